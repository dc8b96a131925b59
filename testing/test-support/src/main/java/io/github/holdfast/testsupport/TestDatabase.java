package io.github.holdfast.testsupport;

import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

/** The databases that tests run on: real servers, started when they are needed. */
public enum TestDatabase {

	H2("h2") {

		@Override
		DatabaseAccess create(String name) {
			// By default, a statement waits for a row no longer than two seconds
			return new DatabaseAccess("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000", "sa", "");
		}

		@Override
		DatabaseAccess remote(DatabaseAccess local) {
			return H2Server.remote(local);
		}

		@Override
		String createUser(String name) {
			return "CREATE USER " + name + " PASSWORD ''";
		}

	},

	MARIADB("mysql") {

		@Override
		DatabaseAccess create(String name) {
			return MariaDbServer.get().create(name);
		}

	},

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

	public String platform() {
		return this.platform;
	}

	/** Creates an empty database, of which nothing is left when this JVM has ended. */
	public DatabaseAccess newDatabase() {
		return create("test_" + UUID.randomUUID().toString().replace("-", ""));
	}

	/** Creates an empty database that child JVMs and a {@link FaultProxy} can reach. */
	public DatabaseAccess newRemoteDatabase() {
		return remote(newDatabase());
	}

	/** Creates a database in which nothing is but the lock table. */
	public DatabaseAccess newLockDatabase() {
		DatabaseAccess database = newDatabase();
		try (HikariDataSource dataSource = database.dataSource(1)) {
			createLockTable(dataSource);
		}
		return database;
	}

	public void createLockTable(DataSource dataSource) {
		DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + this.platform + ".sql");
	}

	/** Creates a user who may do no more than what is granted. */
	public DatabaseAccess newUser(DatabaseAccess owner, List<String> grants) {
		String name = "user_" + UUID.randomUUID().toString().replace("-", "").substring(16);
		owner.execute(createUser(name));
		owner.execute(grants.stream().map((grant) -> grant.replace("shop_app", name)).toArray(String[]::new));
		// The delay is set already, and only by administrators
		return new DatabaseAccess(owner.url().replace(";DB_CLOSE_DELAY=-1", ""), name, "");
	}

	String createUser(String name) {
		return "CREATE USER " + name;
	}

	abstract DatabaseAccess create(String name);

	DatabaseAccess remote(DatabaseAccess local) {
		return local;
	}

}
