package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * Faults of rows in H2.
 */
class H2JdbcLockFaultTests extends AbstractJdbcLockFaultTests {

	H2JdbcLockFaultTests() {
		super(TestDatabase.H2);
	}

}
