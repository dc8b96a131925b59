package io.github.holdfast.store.zookeeper;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.ZooKeeperEnsemble;

/** The contract with three ZooKeeper servers. */
@Tag("long")
@Tag("night")
class EnsembleZooKeeperLockBackendTests extends AbstractZooKeeperLockBackendTests {

	private final ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();

	@Override
	CuratorFramework newClient() {
		return this.ensemble.client();
	}

	@Override
	void stopServers() {
		this.ensemble.close();
	}

}
