package io.github.holdfast.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.util.FileSystemUtils;

/** The one PostgreSQL server of this JVM. Its data do not survive a power loss. */
final class PostgresServer {

	private final EmbeddedPostgres server;

	private PostgresServer(Path data) throws Exception {
		FileSystemUtils.copyRecursively(SharedFiles.get("postgresql-data", (empty) -> builder(empty).start().close()),
				data);
		try {
			this.server = builder(data).start();
		}
		catch (IOException | RuntimeException ex) {
			kill(data.resolve("postmaster.pid"));
			throw ex;
		}
	}

	private static EmbeddedPostgres.Builder builder(Path data) throws Exception {
		// Where it unpacks itself when it is first started
		Path binaries = SharedFiles.get("postgresql", (empty) -> {
		});
		return EmbeddedPostgres.builder()
			.setPort(LocalPorts.free())
			.setOverrideWorkingDirectory(binaries.toFile())
			.setDataDirectory(data)
			.setCleanDataDirectory(false)
			.setServerConfig("max_connections", Integer.toString(TestDatabase.MAX_CONNECTIONS))
			.setServerConfig("unix_socket_directories", "''")
			.setPGStartupWait(Duration.ofMinutes(2))
			.setRegisterShutdownHook(false);
	}

	/** Ends a server that was started, but did not answer. */
	private static void kill(Path process) throws IOException {
		if (Files.exists(process)) {
			ProcessHandle.of(Long.parseLong(Files.readAllLines(process).get(0)))
				.ifPresent(ProcessHandle::destroyForcibly);
		}
	}

	static PostgresServer get() {
		return Holder.INSTANCE;
	}

	DatabaseAccess create(String name) {
		access("postgres").execute("create database " + name);
		return access(name);
	}

	private DatabaseAccess access(String database) {
		return new DatabaseAccess("jdbc:postgresql://localhost:" + this.server.getPort() + "/" + database, "postgres",
				"");
	}

	private void stop() throws IOException {
		this.server.close();
	}

	private static final class Holder {

		static final PostgresServer INSTANCE = TestServers.start("PostgreSQL", PostgresServer::new,
				PostgresServer::stop);

	}

}
