package io.github.holdfast.format;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The recorded format in H2.
 */
class H2StoredFormatTests extends AbstractJdbcStoredFormatTests {

	H2StoredFormatTests() {
		super(TestDatabase.H2);
	}

}
