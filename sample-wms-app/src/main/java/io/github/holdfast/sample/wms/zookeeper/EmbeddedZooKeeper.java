package io.github.holdfast.sample.wms.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;

import org.apache.curator.test.TestingServer;

/**
 * A ZooKeeper server in this JVM, on a free port, with its data in a temporary folder
 * that {@link #close()} removes. Not for production: it ends with the application, and
 * anybody may connect.
 */
public final class EmbeddedZooKeeper implements AutoCloseable {

	private final TestingServer server;

	private EmbeddedZooKeeper(TestingServer server) {
		this.server = server;
	}

	/**
	 * Starts a server on a free port.
	 * @return the server
	 */
	public static EmbeddedZooKeeper start() {
		try {
			return new EmbeddedZooKeeper(new TestingServer(true));
		}
		catch (Exception ex) {
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
	}

}
