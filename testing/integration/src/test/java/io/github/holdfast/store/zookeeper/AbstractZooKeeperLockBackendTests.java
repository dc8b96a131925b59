package io.github.holdfast.store.zookeeper;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LockBackendContractTests;

/**
 * The contract with ZooKeeper, for two clients with a session each. What is served is the
 * leaves' matter.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractZooKeeperLockBackendTests extends LockBackendContractTests {

	@SuppressWarnings("NullAway.Init")
	private CuratorFramework first;

	@SuppressWarnings("NullAway.Init")
	private CuratorFramework second;

	@SuppressWarnings("NullAway.Init")
	private LockBackend backend;

	@SuppressWarnings("NullAway.Init")
	private LockBackend secondBackend;

	abstract CuratorFramework newClient();

	abstract void stopServers();

	LockBackend newBackend(CuratorFramework client) {
		return new ZooKeeperLockBackend(() -> client);
	}

	@BeforeAll
	final void connect() {
		this.first = newClient();
		this.second = newClient();
		this.backend = newBackend(this.first);
		this.secondBackend = newBackend(this.second);
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
