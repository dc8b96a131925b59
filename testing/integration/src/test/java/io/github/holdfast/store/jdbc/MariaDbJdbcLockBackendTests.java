package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/** The contract on a lock table in MariaDb. */
class MariaDbJdbcLockBackendTests extends AbstractJdbcLockBackendTests {

	MariaDbJdbcLockBackendTests() {
		super(TestDatabase.MARIADB);
	}

}
