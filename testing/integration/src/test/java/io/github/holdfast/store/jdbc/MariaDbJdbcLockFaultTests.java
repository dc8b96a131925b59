package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * Faults of rows in MariaDB.
 */
class MariaDbJdbcLockFaultTests extends AbstractJdbcLockFaultTests {

	MariaDbJdbcLockFaultTests() {
		super(TestDatabase.MARIADB);
	}

}
