package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/** The contract on a lock table in H2. */
class H2JdbcLockBackendTests extends AbstractJdbcLockBackendTests {

	H2JdbcLockBackendTests() {
		super(TestDatabase.H2);
	}

}
