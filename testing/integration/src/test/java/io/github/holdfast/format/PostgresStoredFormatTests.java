package io.github.holdfast.format;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The recorded format in PostgreSQL.
 */
class PostgresStoredFormatTests extends AbstractJdbcStoredFormatTests {

	PostgresStoredFormatTests() {
		super(TestDatabase.POSTGRESQL);
	}

}
