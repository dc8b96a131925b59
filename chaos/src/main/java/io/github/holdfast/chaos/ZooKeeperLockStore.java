package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.Set;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;

import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * One ZooKeeper, in this JVM.
 */
final class ZooKeeperLockStore implements LockStore {

	static final Set<Fault.Kind> FAULTS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.RESTART);

	private static final String LOCKS = "/holdfast/locks";

	private final ZooKeeperServer server = ZooKeeperServer.start();

	@Override
	public int port() {
		return this.server.port();
	}

	@Override
	public void begin(Fault fault) {
		switch (fault.kind()) {
			case FORGET -> forget();
			case RESTART -> {
				this.server.stop();
				this.server.restart();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	/**
	 * Deletes the nodes of all holders and waiters, as an operator does.
	 */
	private void forget() {
		try (CuratorFramework client = this.server.client()) {
			for (String lock : client.getChildren().forPath(LOCKS)) {
				for (String node : client.getChildren().forPath(LOCKS + "/" + lock)) {
					client.delete().quietly().forPath(LOCKS + "/" + lock + "/" + node);
				}
			}
		}
		catch (KeeperException.NoNodeException ex) {
			// Nobody has taken a lock yet, or not for a while
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper does not answer", ex);
		}
	}

	@Override
	public void close() {
		this.server.close();
	}

}
