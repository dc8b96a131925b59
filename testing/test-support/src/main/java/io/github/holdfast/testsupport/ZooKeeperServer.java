package io.github.holdfast.testsupport;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

import org.springframework.util.FileSystemUtils;

/** A ZooKeeper server in this JVM, with short ticks. It keeps its data. */
public final class ZooKeeperServer implements AutoCloseable {

	/** Sessions have 2 to 20 of them. */
	static final Duration TICK = Duration.ofMillis(500);

	/** Ticks of silence after which the servers of an ensemble give each other up. */
	private static final String SYNC_LIMIT = "20";

	static {
		// Before the first server is started: the disk is not what is tested
		System.setProperty("zookeeper.forceSync", "no");
	}

	private static final String CONTAINER_CHECK = "znode.container.checkIntervalMs";

	private final InstanceSpec spec = newSpec();

	private final TestingServer server;

	private ZooKeeperServer() {
		try {
			this.server = new TestingServer(this.spec, true);
		}
		catch (Exception ex) {
			deleteFolders(List.of(this.spec));
			throw new IllegalStateException("ZooKeeper did not start", ex);
		}
	}

	/** A server in a folder of its own, beside which it writes its configuration. */
	static InstanceSpec newSpec() {
		return new InstanceSpec(newFolder(), LocalPorts.free(), LocalPorts.free(), LocalPorts.free(), true, -1,
				(int) TICK.toMillis(), -1, Map.of("syncLimit", SYNC_LIMIT));
	}

	private static File newFolder() {
		try {
			return Files.createDirectory(Files.createTempDirectory("holdfast-zookeeper-").resolve("data")).toFile();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Deletes what servers leave when they are closed. */
	static void deleteFolders(Collection<InstanceSpec> specs) {
		specs.forEach((spec) -> FileSystemUtils.deleteRecursively(spec.getDataDirectory().getParentFile()));
	}

	public static ZooKeeperServer start() {
		return new ZooKeeperServer();
	}

	/** Starts a server that looks for empty containers more often than once a minute. */
	public static ZooKeeperServer startWithContainerCheck(Duration interval) {
		System.setProperty(CONTAINER_CHECK, Long.toString(interval.toMillis()));
		try {
			return start();
		}
		finally {
			System.clearProperty(CONTAINER_CHECK);
		}
	}

	public int port() {
		return this.server.getPort();
	}

	public void stop() {
		try {
			this.server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public void restart() {
		try {
			this.server.restart();
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper did not start again", ex);
		}
	}

	public CuratorFramework client() {
		return client(port());
	}

	/** A client of the server behind a port, with a session of 10 seconds. */
	public static CuratorFramework client(int port) {
		return client("127.0.0.1:" + port, Duration.ofSeconds(10));
	}

	public static CuratorFramework client(String addresses, Duration sessionTimeout) {
		CuratorFramework client = CuratorFrameworkFactory.newClient(addresses, (int) sessionTimeout.toMillis(), 5000,
				new RetryOneTime(100));
		client.start();
		return client;
	}

	/**
	 * Ends the session of a client for the client only, as if the server had said so. The
	 * server knows nothing of it: what belongs to the session stays there until its time
	 * is over.
	 */
	public static void expireSession(CuratorFramework client) {
		CountDownLatch expired = new CountDownLatch(1);
		try {
			ZooKeeper session = client.getZookeeperClient().getZooKeeper();
			// On the thread that tells of it: whoever hears of it too early closes the
			// session in the server
			session.sync("/", (code, path, context) -> {
				// A session never ends while it is connected; Curator relies on that
				session.getTestable().queueEvent(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
				session.getTestable().injectSessionExpiration();
				expired.countDown();
			}, null);
			expired.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			deleteFolders(List.of(this.spec));
		}
	}

}
