package io.github.holdfast.jdbc;

import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.OutageContractTests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/**
 * Calls while PostgreSQL is down.
 */
@Tag("long")
class PostgresJdbcOutageTests extends OutageContractTests {

	@Override
	protected TestStore open() throws Exception {
		return new JdbcStore(TestDatabase.POSTGRESQL, "?socketTimeout=2&connectTimeout=2");
	}

}
