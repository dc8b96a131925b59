package io.github.holdfast.store.etcd;

import java.util.List;

import io.etcd.jetcd.Client;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.RequiresEtcd;

/** The contract on one etcd server, with connections of its own for each client. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@RequiresEtcd
class EtcdLockBackendTests extends SharedLockContractTests {

	private Client first;

	private Client second;

	private LockBackend backend;

	private LockBackend secondBackend;

	Client connect() {
		return EtcdNode.connect(List.of(EtcdServer.shared().endpoint()));
	}

	@BeforeAll
	void open() {
		this.first = connect();
		this.second = connect();
		this.backend = new EtcdLockBackend(() -> this.first);
		this.secondBackend = new EtcdLockBackend(() -> this.second);
	}

	@AfterAll
	void close() {
		this.first.close();
		this.second.close();
	}

	@Override
	protected LockBackend backend() {
		return this.backend;
	}

	@Override
	protected LockBackend secondBackend() {
		return this.secondBackend;
	}

}
