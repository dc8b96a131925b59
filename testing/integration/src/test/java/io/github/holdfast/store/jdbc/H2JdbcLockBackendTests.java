package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

class H2JdbcLockBackendTests extends AbstractJdbcLockBackendTests {

	H2JdbcLockBackendTests() {
		super(TestDatabase.H2);
	}

}
