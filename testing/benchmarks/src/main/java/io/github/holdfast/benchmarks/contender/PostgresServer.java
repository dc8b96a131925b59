package io.github.holdfast.benchmarks.contender;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * A PostgreSQL server with its data in a temporary folder, where each commit is written
 * to the disk.
 */
final class PostgresServer implements AutoCloseable {

	private final Path folder;

	private final EmbeddedPostgres server;

	private PostgresServer(Path folder, EmbeddedPostgres server) {
		this.folder = folder;
		this.server = server;
	}

	static PostgresServer start() throws IOException {
		Path folder = Files.createTempDirectory("benchmark-postgresql");
		EmbeddedPostgres server = EmbeddedPostgres.builder()
			.setOverrideWorkingDirectory(folder.resolve("base").toFile())
			.setDataDirectory(folder.resolve("data"))
			.setServerConfig("unix_socket_directories", "''")
			.setServerConfig("max_connections", "1000")
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.start();
		new JdbcTemplate(server.getPostgresDatabase()).execute("CREATE DATABASE earlier");
		return new PostgresServer(folder, server);
	}

	int port() {
		return this.server.getPort();
	}

	static String jdbcUrl(int port) {
		return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
	}

	@Override
	public void close() throws IOException {
		this.server.close();
		FileSystemUtils.deleteRecursively(this.folder);
	}

}
