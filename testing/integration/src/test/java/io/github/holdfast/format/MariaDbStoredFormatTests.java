package io.github.holdfast.format;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The recorded format in MariaDB.
 */
class MariaDbStoredFormatTests extends AbstractJdbcStoredFormatTests {

	MariaDbStoredFormatTests() {
		super(TestDatabase.MARIADB);
	}

}
