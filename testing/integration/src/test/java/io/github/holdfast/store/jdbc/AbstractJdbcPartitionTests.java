package io.github.holdfast.store.jdbc;

import io.github.holdfast.testsupport.LeasePartitionContractTests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/**
 * The network between a node and the database of its locks fails at each step of a lock.
 * Its driver gives up soon.
 */
abstract class AbstractJdbcPartitionTests extends LeasePartitionContractTests {

	private final TestDatabase database;

	private final String timeout;

	AbstractJdbcPartitionTests(TestDatabase database, String timeout) {
		this.database = database;
		this.timeout = timeout;
	}

	@Override
	protected TestStore open() {
		return new JdbcStore(this.database, this.timeout);
	}

}
