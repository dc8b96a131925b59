package io.github.holdfast.store.session;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The contract on the sessions of PostgreSQL.
 */
class PostgresJdbcSessionLockBackendTests extends AbstractJdbcSessionLockBackendTests {

	PostgresJdbcSessionLockBackendTests() {
		super(TestDatabase.POSTGRESQL);
	}

}
