package io.github.holdfast.testsupport;

import java.util.UUID;

/**
 * The databases that tests run on. Each is a real server inside or beside this JVM,
 * started when it is first needed and stopped when the JVM exits.
 */
public enum TestDatabase {

	/** H2, in the memory of this JVM. */
	H2("h2") {

		@Override
		DatabaseAccess create(String name) {
			return new DatabaseAccess("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1", "sa", "");
		}

		@Override
		DatabaseAccess remote(DatabaseAccess local) {
			return H2Server.remote(local);
		}

	},

	/** MariaDB, in its own process. */
	MARIADB("mariadb") {

		@Override
		DatabaseAccess create(String name) {
			return MariaDbServer.get().create(name);
		}

	},

	/** PostgreSQL, in its own processes. */
	POSTGRESQL("postgresql") {

		@Override
		DatabaseAccess create(String name) {
			return PostgresServer.get().create(name);
		}

	};

	static final int MAX_CONNECTIONS = 300;

	private final String platform;

	TestDatabase(String platform) {
		this.platform = platform;
	}

	/**
	 * The platform in the names of schema scripts.
	 * @return {@code h2}, {@code mariadb} or {@code postgresql}
	 */
	public String platform() {
		return this.platform;
	}

	/**
	 * Creates an empty database, of which nothing is left when this JVM has ended.
	 * @return how to connect from this JVM
	 */
	public DatabaseAccess newDatabase() {
		return create("test_" + UUID.randomUUID().toString().replace("-", ""));
	}

	/**
	 * Creates an empty database that child JVMs can reach too, and that can be put behind
	 * a {@link FaultProxy}.
	 * @return how to connect over TCP
	 */
	public DatabaseAccess newRemoteDatabase() {
		return remote(newDatabase());
	}

	abstract DatabaseAccess create(String name);

	DatabaseAccess remote(DatabaseAccess local) {
		return local;
	}

}
