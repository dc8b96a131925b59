package io.github.holdfast.jdbc;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * Faults of the network between a node and PostgreSQL.
 */
class PostgresJdbcPartitionTests extends AbstractJdbcPartitionTests {

	PostgresJdbcPartitionTests() {
		super(TestDatabase.POSTGRESQL, "?socketTimeout=2&connectTimeout=2");
	}

}
