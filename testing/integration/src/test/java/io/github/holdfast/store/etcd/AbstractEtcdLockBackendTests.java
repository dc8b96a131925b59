package io.github.holdfast.store.etcd;

import io.etcd.jetcd.Client;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;
import io.github.holdfast.testsupport.RequiresEtcd;

/** The contract on etcd, with connections of its own for each client. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@RequiresEtcd
abstract class AbstractEtcdLockBackendTests extends SharedLockContractTests {

	private Client first;

	private Client second;

	private LockBackend backend;

	private LockBackend secondBackend;

	abstract Client connect();

	LockBackend backend(Client client) {
		return new EtcdLockBackend(() -> client);
	}

	@BeforeAll
	void open() {
		this.first = connect();
		this.second = connect();
		this.backend = backend(this.first);
		this.secondBackend = backend(this.second);
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
