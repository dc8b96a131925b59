package io.github.holdfast.store.zookeeper;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LockBackendContractTests;
import io.github.holdfast.testsupport.ZooKeeperServer;

/** The contract with one ZooKeeper server, for two clients with a session each. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ZooKeeperLockBackendTests extends LockBackendContractTests {

	private CuratorFramework first;

	private CuratorFramework second;

	private LockBackend backend;

	private LockBackend secondBackend;

	private ZooKeeperServer server;

	void startServers() {
		this.server = ZooKeeperServer.start();
	}

	CuratorFramework newClient() {
		return this.server.client();
	}

	void stopServers() {
		this.server.close();
	}

	@BeforeAll
	final void connect() {
		startServers();
		this.first = newClient();
		this.second = newClient();
		this.backend = new ZooKeeperLockBackend(() -> this.first);
		this.secondBackend = new ZooKeeperLockBackend(() -> this.second);
	}

	@AfterAll
	final void disconnect() {
		this.first.close();
		this.second.close();
		stopServers();
	}

	@Override
	protected final LockBackend backend() {
		return this.backend;
	}

	@Override
	protected final LockBackend secondBackend() {
		return this.secondBackend;
	}

}
