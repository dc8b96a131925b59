package io.github.holdfast.store.zookeeper;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Tag;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * The contract with one ZooKeeper server and two JVMs' local queues in front of it.
 */
@Tag("long")
@Tag("night")
class HandoverZooKeeperLockBackendTests extends AbstractZooKeeperLockBackendTests {

	private final ZooKeeperServer server = ZooKeeperServer.start();

	@Override
	CuratorFramework newClient() {
		return this.server.client();
	}

	@Override
	LockBackend newBackend(CuratorFramework client) {
		return new HandoverLockBackend(super.newBackend(client));
	}

	@Override
	void stopServers() {
		this.server.close();
	}

}
