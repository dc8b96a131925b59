package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

class MariaDbJdbcLockBackendTests extends AbstractJdbcLockBackendTests {

	MariaDbJdbcLockBackendTests() {
		super(TestDatabase.MARIADB);
	}

}
