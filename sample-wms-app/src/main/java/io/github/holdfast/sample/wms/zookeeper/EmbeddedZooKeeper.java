package io.github.holdfast.sample.wms.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.apache.curator.test.TestingServer;

import org.springframework.util.FileSystemUtils;

/**
 * A ZooKeeper server in this JVM, on a free port, with its data in a temporary folder
 * that {@link #close()} removes. Not for production: it ends with the application, and
 * anybody may connect.
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
	 * @return the server
	 */
	public static EmbeddedZooKeeper start() {
		Path folder = null;
		try {
			folder = Files.createTempDirectory("wms-zookeeper");
			// Beside its data, the server writes its configuration
			Path data = Files.createDirectory(folder.resolve("data"));
			return new EmbeddedZooKeeper(new TestingServer(-1, data.toFile(), true), folder);
		}
		catch (Exception ex) {
			FileSystemUtils.deleteRecursively((folder != null) ? folder.toFile() : null);
			throw new IllegalStateException("ZooKeeper did not start", ex);
		}
	}

	/**
	 * The port on which every process of this machine reaches the server.
	 * @return the port
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
