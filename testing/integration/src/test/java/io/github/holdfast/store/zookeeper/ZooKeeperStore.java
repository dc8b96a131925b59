package io.github.holdfast.store.zookeeper;

import java.util.Set;

import org.apache.curator.framework.CuratorFramework;

import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.ZooKeeperServer;

/** ZooKeeper as contracts see it. */
final class ZooKeeperStore extends TestStore<CuratorFramework> {

	private final LockNodes nodes = new LockNodes(farClient());

	ZooKeeperStore(ZooKeeperServer server) {
		super(server.port(), (port) -> ZooKeeperServer.client(port),
				(client) -> new ZooKeeperLockBackend(() -> client));
	}

	LockNodes nodes() {
		return this.nodes;
	}

	@Override
	public boolean isHeld(String key) {
		return !this.nodes.queue(key).isEmpty();
	}

	@Override
	public boolean isWaitedFor(String key) {
		return this.nodes.queue(key).size() == 2;
	}

	@Override
	public void remove(String key) {
		LockNode first = LockNode.queue(this.nodes.queue(key)).get(0);
		this.nodes.delete(this.nodes.path(key) + '/' + first.name());
	}

	@Override
	public long session() {
		try {
			return nearClient().getZookeeperClient().getZooKeeper().getSessionId();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public Set<Told> told() {
		return Set.of(Told.SINCE);
	}

}
