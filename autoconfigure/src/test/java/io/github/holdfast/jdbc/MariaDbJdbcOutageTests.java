package io.github.holdfast.jdbc;

import io.github.holdfast.testsupport.OutageContractTests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/**
 * Calls while MariaDB is down.
 */
class MariaDbJdbcOutageTests extends OutageContractTests {

	@Override
	protected TestStore open() throws Exception {
		return new JdbcStore(TestDatabase.MARIADB, "?socketTimeout=1500&connectTimeout=1500");
	}

}
