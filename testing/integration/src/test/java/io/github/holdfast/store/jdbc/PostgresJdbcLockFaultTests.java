package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * Faults of rows in PostgreSQL.
 */
class PostgresJdbcLockFaultTests extends AbstractJdbcLockFaultTests {

	PostgresJdbcLockFaultTests() {
		super(TestDatabase.POSTGRESQL);
	}

}
