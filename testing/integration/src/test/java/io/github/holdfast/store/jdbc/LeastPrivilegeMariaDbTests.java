package io.github.holdfast.store.jdbc;

import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * The contract on MariaDB, for a user with no more than the documented privileges.
 */
@Tag("long")
@Tag("night")
class LeastPrivilegeMariaDbTests extends AbstractJdbcLockBackendTests {

	LeastPrivilegeMariaDbTests() {
		super(TestDatabase.MARIADB);
	}

	@Override
	DatabaseAccess user(TestDatabase database, DatabaseAccess owner) {
		return database.newUser(owner, DocumentedGrants.statements());
	}

}
