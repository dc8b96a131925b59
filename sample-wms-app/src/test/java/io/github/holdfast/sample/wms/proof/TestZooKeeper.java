package io.github.holdfast.sample.wms.proof;

import java.util.List;

import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * A ZooKeeper server of its own for one test.
 */
final class TestZooKeeper implements LockServer {

	private final ZooKeeperServer server = ZooKeeperServer.start();

	@Override
	public List<String> arguments() {
		return List.of("--spring.profiles.active=zookeeper",
				"--holdfast.zookeeper.connect-string=127.0.0.1:" + this.server.port(),
				"--holdfast.zookeeper.session-timeout=4s");
	}

	@Override
	public void close() {
		this.server.close();
	}

}
