package io.github.holdfast.store.jdbc;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.LeasePartitionContractTests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/**
 * The network to the database of the locks fails at each step; its driver gives up soon.
 */
@Tag("long")
@ParameterizedClass
@EnumSource(names = { "MARIADB", "POSTGRESQL" })
class JdbcPartitionTests extends LeasePartitionContractTests {

	@Parameter
	private TestDatabase database;

	@Override
	protected TestStore<?> open() {
		return new JdbcStore(this.database, (this.database == TestDatabase.MARIADB)
				? "?socketTimeout=5000&connectTimeout=5000" : "?socketTimeout=5&connectTimeout=5");
	}

}
