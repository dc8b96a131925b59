package io.github.holdfast.zookeeper;

import org.junit.jupiter.api.AfterAll;

import io.github.holdfast.testsupport.OutageContractTests;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * Calls while ZooKeeper is down.
 */
class ZooKeeperOutageTests extends OutageContractTests {

	private static final ZooKeeperServer server = ZooKeeperServer.start();

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() throws Exception {
		return new ZooKeeperStore(server);
	}

}
