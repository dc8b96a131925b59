package io.github.holdfast.store.jdbc;

import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * Faults of the network between a node and MariaDB.
 */
@Tag("long")
class MariaDbJdbcPartitionTests extends AbstractJdbcPartitionTests {

	MariaDbJdbcPartitionTests() {
		super(TestDatabase.MARIADB, "?socketTimeout=5000&connectTimeout=5000");
	}

}
