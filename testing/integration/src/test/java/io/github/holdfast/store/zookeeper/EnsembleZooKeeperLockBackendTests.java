package io.github.holdfast.store.zookeeper;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.ZooKeeperEnsemble;

@Tag("long")
@Tag("night")
class EnsembleZooKeeperLockBackendTests extends ZooKeeperLockBackendTests {

	private ZooKeeperEnsemble ensemble;

	@Override
	void startServers() {
		this.ensemble = ZooKeeperEnsemble.start();
	}

	@Override
	CuratorFramework newClient() {
		return this.ensemble.client();
	}

	@Override
	void stopServers() {
		this.ensemble.close();
	}

}
