package io.github.holdfast.store.zookeeper;

import org.apache.curator.framework.CuratorFramework;

import io.github.holdfast.testsupport.ZooKeeperServer;

/** The contract with one ZooKeeper server. */
class ZooKeeperLockBackendTests extends AbstractZooKeeperLockBackendTests {

	private final ZooKeeperServer server = ZooKeeperServer.start();

	@Override
	CuratorFramework newClient() {
		return this.server.client();
	}

	@Override
	void stopServers() {
		this.server.close();
	}

}
