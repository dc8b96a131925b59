package io.github.holdfast.sample.wms.proof;

/**
 * Where orders and stock are.
 */
enum BusinessDatabase {

	/** H2, in the memory of this JVM. */
	H2(TestDatabase::h2),

	/** MariaDB. */
	MARIADB(TestDatabase::mariaDb),

	/** PostgreSQL. */
	POSTGRESQL(TestDatabase::postgres);

	private final Starter starter;

	BusinessDatabase(Starter starter) {
		this.starter = starter;
	}

	TestDatabase start() throws Exception {
		return this.starter.start();
	}

	@FunctionalInterface
	private interface Starter {

		TestDatabase start() throws Exception;

	}

}
