package io.github.holdfast.lab.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

import org.springframework.util.FileSystemUtils;

/**
 * A ZooKeeper server in this JVM, on a free port, with its data in a temporary folder
 * that {@link #close()} removes. Not for production: it ends with the application, and
 * anybody on this machine may connect.
 */
public final class EmbeddedZooKeeper implements AutoCloseable {

	private final TestingServer server;

	private final Path folder;

	private EmbeddedZooKeeper(TestingServer server, Path folder) {
		this.server = server;
		this.folder = folder;
	}

	/**
	 * Starts a server on a free port.
	 * @param parent where its temporary folder is created
	 * @param tick the unit of its times; a session lasts at least two of them
	 */
	public static EmbeddedZooKeeper start(Path parent, Duration tick) {
		Path folder = null;
		try {
			folder = Files.createTempDirectory(parent, "lab-zookeeper");
			// Beside its data, the server writes its configuration
			Path data = Files.createDirectory(folder.resolve("data"));
			InstanceSpec instance = new InstanceSpec(data.toFile(), -1, -1, -1, true, -1, (int) tick.toMillis(), -1,
					Map.of("clientPortAddress", "127.0.0.1"), "127.0.0.1");
			return new EmbeddedZooKeeper(new TestingServer(instance, true), folder);
		}
		catch (Exception ex) {
			FileSystemUtils.deleteRecursively((folder != null) ? folder.toFile() : null);
			throw new IllegalStateException("ZooKeeper did not start", ex);
		}
	}

	/**
	 * The port on which every process of this machine reaches the server.
	 */
	public int port() {
		return this.server.getPort();
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("ZooKeeper did not stop", ex);
		}
		finally {
			FileSystemUtils.deleteRecursively(this.folder.toFile());
		}
	}

}
