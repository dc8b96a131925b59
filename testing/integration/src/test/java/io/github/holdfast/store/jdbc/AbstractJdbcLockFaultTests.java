package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/**
 * What happens when something is wrong with the row of a lock.
 */
abstract class AbstractJdbcLockFaultTests extends LockFaultContractTests {

	private final TestDatabase database;

	AbstractJdbcLockFaultTests(TestDatabase database) {
		this.database = database;
	}

	@Override
	protected TestStore open() {
		return new JdbcStore(this.database, "");
	}

}
