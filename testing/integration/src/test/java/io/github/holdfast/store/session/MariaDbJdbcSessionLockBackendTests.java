package io.github.holdfast.store.session;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The contract on the sessions of MariaDB.
 */
class MariaDbJdbcSessionLockBackendTests extends AbstractJdbcSessionLockBackendTests {

	MariaDbJdbcSessionLockBackendTests() {
		super(TestDatabase.MARIADB);
	}

}
