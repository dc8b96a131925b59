package io.github.holdfast.testsupport;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * The lock stores that a fault is tried on, each beside a database for the business data.
 */
public enum TestBackend {

	/** Locks in this JVM; the data are in H2. */
	LOCAL(TestDatabase.H2) {

		@Override
		public ApplicationContextRunner application(DatabaseAccess access) {
			return super.application(access).withPropertyValues("holdfast.backend=local");
		}

	},

	H2(TestDatabase.H2),

	MARIADB(TestDatabase.MARIADB),

	POSTGRESQL(TestDatabase.POSTGRESQL);

	private final TestDatabase database;

	TestBackend(TestDatabase database) {
		this.database = database;
	}

	/** The database of the business data and, except for {@link #LOCAL}, of the locks. */
	public TestDatabase database() {
		return this.database;
	}

	/** Whether the locks are in a table of the database. */
	public boolean hasLockTable() {
		return this != LOCAL;
	}

	public ApplicationContextRunner application() {
		return application(this.database.newDatabase());
	}

	public ApplicationContextRunner application(DatabaseAccess access) {
		return LockedApplication.jdbc(access);
	}

}
