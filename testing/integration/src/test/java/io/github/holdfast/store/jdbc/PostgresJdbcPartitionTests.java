package io.github.holdfast.store.jdbc;

import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * Faults of the network between a node and PostgreSQL.
 */
@Tag("long")
class PostgresJdbcPartitionTests extends AbstractJdbcPartitionTests {

	PostgresJdbcPartitionTests() {
		super(TestDatabase.POSTGRESQL, "?socketTimeout=5&connectTimeout=5");
	}

}
