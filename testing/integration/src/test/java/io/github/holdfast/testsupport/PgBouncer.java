package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.awaitility.Awaitility;

/**
 * A PgBouncer in front of a PostgreSQL server, which gives a client another session for
 * each of its transactions. It has gone, with all its files, when it is closed or this
 * JVM exits. Needs Debian's package {@code pgbouncer}.
 */
public final class PgBouncer implements AutoCloseable {

	private static final Path BINARY = Path.of("/usr/sbin/pgbouncer");

	private final ServerProcess process = new ServerProcess("pgbouncer", null,
			PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));

	private final int port = LocalPorts.free();

	private PgBouncer(DatabaseAccess database, int sessions) throws IOException {
		Path configuration = this.process.file("pgbouncer.ini");
		Files.writeString(configuration, """
				[databases]
				* = host=127.0.0.1 port=%d user=%s
				[pgbouncer]
				listen_addr = 127.0.0.1
				listen_port = %d
				unix_socket_dir =
				auth_type = any
				pool_mode = transaction
				default_pool_size = %d
				max_client_conn = 200
				ignore_startup_parameters = extra_float_digits
				""".formatted(database.port(), database.user(), this.port, sessions));
		List<String> command = new ArrayList<>(List.of(BINARY.toString()));
		if ("root".equals(System.getProperty("user.name"))) {
			// As whom it refuses to run
			command.addAll(List.of("-u", "nobody"));
		}
		command.add(configuration.toString());
		this.process.start(command, Map.of());
	}

	public static boolean isInstalled() {
		return Files.isExecutable(BINARY);
	}

	public static PgBouncer start(DatabaseAccess database, int sessions) {
		try {
			PgBouncer started = new PgBouncer(database, sessions);
			Awaitility.await().atMost(Duration.ofMinutes(2)).until(started::listens);
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean listens() {
		if (!this.process.isAlive()) {
			throw new IllegalStateException(this.process.log());
		}
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress("127.0.0.1", this.port));
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	public DatabaseAccess access(DatabaseAccess database) {
		return database.onPort(this.port).with("?prepareThreshold=0");
	}

	@Override
	public void close() {
		this.process.close();
	}

}
