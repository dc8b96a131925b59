package io.github.holdfast.store.zookeeper;

import java.util.Set;

import org.apache.curator.framework.CuratorFramework;

import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.ZooKeeperServer;

/** ZooKeeper as contracts see it. */
final class ZooKeeperStore implements TestStore {

	private final FaultProxy proxy;

	private final CuratorFramework near;

	private final CuratorFramework far;

	private final ManageableLockBackend nearBackend;

	private final ManageableLockBackend farBackend;

	private final LockNodes nodes;

	ZooKeeperStore(ZooKeeperServer server) {
		this.proxy = new FaultProxy(server.port());
		this.near = ZooKeeperServer.client(this.proxy.port());
		this.far = server.client();
		this.nearBackend = new ZooKeeperLockBackend(() -> this.near);
		this.farBackend = new ZooKeeperLockBackend(() -> this.far);
		this.nodes = new LockNodes(this.far);
	}

	LockNodes nodes() {
		return this.nodes;
	}

	@Override
	public ManageableLockBackend near() {
		return this.nearBackend;
	}

	@Override
	public ManageableLockBackend far() {
		return this.farBackend;
	}

	@Override
	public FaultProxy proxy() {
		return this.proxy;
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
			return this.near.getZookeeperClient().getZooKeeper().getSessionId();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public Set<Told> told() {
		return Set.of(Told.SINCE);
	}

	@Override
	public void close() {
		this.near.close();
		this.far.close();
		this.proxy.close();
	}

}
