package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

class PostgresJdbcLockBackendTests extends AbstractJdbcLockBackendTests {

	PostgresJdbcLockBackendTests() {
		super(TestDatabase.POSTGRESQL);
	}

}
