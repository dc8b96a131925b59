package io.github.holdfast.store.jdbc;

import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/** What happens when something is wrong with the row of a lock. */
@ParameterizedClass
@EnumSource
class JdbcLockFaultTests extends LockFaultContractTests {

	@Parameter
	private TestDatabase database;

	@Override
	protected TestStore<?> open() {
		return new JdbcStore(this.database, "");
	}

}
