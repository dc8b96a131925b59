package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/** The contract on a lock table in Postgres. */
class PostgresJdbcLockBackendTests extends AbstractJdbcLockBackendTests {

	PostgresJdbcLockBackendTests() {
		super(TestDatabase.POSTGRESQL);
	}

}
