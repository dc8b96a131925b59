package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.util.FileSystemUtils;

/**
 * Two MariaDB servers of a Galera cluster, which both take writes, on free local ports.
 * They have gone, with all their files, when it is closed or this JVM exits. Needs
 * Debian's packages {@code mariadb-server} and {@code galera-4}.
 */
public final class GaleraCluster implements AutoCloseable {

	private static final Path PROVIDER = Path.of("/usr/lib/galera/libgalera_smm.so");

	private static final Duration START_TIME = Duration.ofMinutes(3);

	private static final String STATE = "11111111-1111-1111-1111-111111111111";

	/** What a server asks its new member to do: nothing, as that has a copy already. */
	private static final String STATE_TRANSFER = """
			#!/bin/sh
			case "$*" in
			*donor*) echo continue; echo "done %1$s" ;;
			*) echo "ready 127.0.0.1:1"; echo "%1$s" ;;
			esac
			""";

	private final Path directory;

	private final List<Server> servers = new ArrayList<>();

	private final Thread hook = new Thread(this::end, "galera stop");

	private GaleraCluster() throws IOException {
		this.directory = Files.createTempDirectory("holdfast-galera-");
		Runtime.getRuntime().addShutdownHook(this.hook);
	}

	/**
	 * Whether the packages are there.
	 * @return {@code false} if one of them is missing
	 */
	public static boolean isInstalled() {
		return Files.exists(PROVIDER) && binary("mariadbd").isPresent() && binary("mariadb-install-db").isPresent();
	}

	private static Optional<Path> binary(String name) {
		return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin"))
			.map((directory) -> Path.of(directory, name))
			.filter(Files::isExecutable)
			.findFirst();
	}

	/**
	 * Starts the servers.
	 * @return the cluster
	 */
	public static GaleraCluster start() {
		try {
			GaleraCluster cluster = new GaleraCluster();
			try {
				cluster.launch();
				return cluster;
			}
			catch (IOException | RuntimeException ex) {
				cluster.close();
				throw ex;
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void launch() throws IOException {
		Path data = this.directory.resolve("data-1");
		run(List.of(binary("mariadb-install-db").orElseThrow().toString(), "--no-defaults", "--user=root",
				"--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db"));
		Files.writeString(data.resolve("grastate.dat"), """
				# GALERA saved state
				version: 2.1
				uuid:    %s
				seqno:   0
				safe_to_bootstrap: 1
				""".formatted(STATE));
		Server first = new Server(1);
		first.start("gcomm://");
		first.shutDown();
		String state = Files.readString(data.resolve("grastate.dat"));
		Matcher position = Pattern.compile("seqno: *(\\d+)").matcher(state);
		if (!position.find()) {
			throw new IllegalStateException("The server has not been shut down: " + state);
		}
		Path transfer = this.directory.resolve("wsrep_sst_copied");
		Files.writeString(transfer, STATE_TRANSFER.formatted(STATE + ":" + position.group(1)));
		if (!transfer.toFile().setExecutable(true)) {
			throw new IllegalStateException(transfer + " cannot be executed");
		}
		Files.delete(data.resolve("galera.cache"));
		FileSystemUtils.copyRecursively(data, this.directory.resolve("data-2"));
		first.start("gcomm://");
		this.servers.add(first);
		Server second = new Server(2);
		second.start("gcomm://127.0.0.1:" + first.groupPort);
		this.servers.add(second);
	}

	private void run(List<String> command) throws IOException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(this.directory.resolve("install.log").toFile())
			.start();
		try {
			if (!process.waitFor(START_TIME.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
				throw new IllegalStateException(Files.readString(this.directory.resolve("install.log")));
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			process.destroyForcibly();
		}
	}

	/**
	 * How to connect to a server.
	 * @param server 0 or 1
	 * @param database the name of a database, which has to be created by one of them
	 * @return the access
	 */
	public DatabaseAccess access(int server, String database) {
		return this.servers.get(server).access(database);
	}

	@Override
	public void close() {
		Runtime.getRuntime().removeShutdownHook(this.hook);
		end();
	}

	private void end() {
		this.servers.forEach(Server::kill);
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private final class Server {

		private final int number;

		private final int port = LocalPorts.free();

		private final int groupPort = LocalPorts.free();

		private final int transferPort = LocalPorts.free();

		private Process process;

		private Server(int number) {
			this.number = number;
		}

		private DatabaseAccess access(String database) {
			return new DatabaseAccess("jdbc:mariadb://localhost:" + this.port + "/" + database, "root", "");
		}

		private void start(String cluster) throws IOException {
			Path directory = GaleraCluster.this.directory;
			Path log = directory.resolve("log-" + this.number);
			ProcessBuilder builder = new ProcessBuilder(binary("mariadbd").orElseThrow().toString(), "--no-defaults",
					"--user=root", "--datadir=" + directory.resolve("data-" + this.number),
					"--socket=" + directory.resolve("socket-" + this.number), "--port=" + this.port,
					"--bind-address=127.0.0.1", "--pid-file=" + directory.resolve("pid-" + this.number),
					"--wsrep-on=ON", "--wsrep-provider=" + PROVIDER, "--wsrep-cluster-address=" + cluster,
					"--wsrep-node-address=127.0.0.1:" + this.groupPort, "--wsrep-sst-method=copied",
					"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:" + this.groupPort
							+ ";ist.recv_addr=127.0.0.1:" + this.transferPort + ";gcache.size=8M",
					"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-flush-log-at-trx-commit=0");
			builder.environment().merge("PATH", directory.toString(), (path, more) -> path + ":/usr/sbin:" + more);
			this.process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
			long end = System.nanoTime() + START_TIME.toNanos();
			while (!isReady()) {
				if (!this.process.isAlive() || System.nanoTime() > end) {
					kill();
					throw new IllegalStateException(Files.readString(log));
				}
				pause();
			}
		}

		private boolean isReady() {
			try (Connection connection = connect();
					Statement statement = connection.createStatement();
					ResultSet rs = statement.executeQuery("SHOW STATUS LIKE 'wsrep_ready'")) {
				return rs.next() && rs.getString(2).equals("ON");
			}
			catch (SQLException ex) {
				return false;
			}
		}

		private Connection connect() throws SQLException {
			return DriverManager.getConnection(access("").url() + "?connectTimeout=1000&socketTimeout=5000", "root",
					"");
		}

		private void shutDown() {
			this.process.destroy();
			try {
				if (!this.process.waitFor(START_TIME.toSeconds(), TimeUnit.SECONDS)) {
					kill();
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void kill() {
			this.process.destroyForcibly().onExit().join();
		}

		private static void pause() {
			try {
				TimeUnit.MILLISECONDS.sleep(100);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
