package io.github.holdfast.store.etcd;

import java.io.Closeable;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.FutureTask;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/** A node with a client of its own, and what it sees in etcd. */
final class EtcdNode implements Closeable {

	private final Client client;

	private final EtcdLockBackend backend;

	EtcdNode(Collection<String> endpoints) {
		this.client = connect(endpoints);
		this.backend = new EtcdLockBackend(() -> this.client);
	}

	static Client connect(Collection<String> endpoints) {
		Client client = EtcdLockBackend.clientBuilder().endpoints(endpoints.toArray(String[]::new)).build();
		EtcdServer.awaitAnswer(client);
		return client;
	}

	Client client() {
		return this.client;
	}

	EtcdLockBackend backend() {
		return this.backend;
	}

	TestLease acquired(LockRequest request) throws InterruptedException {
		TestLease lease = TestLease.acquire(this.backend, request);
		assertThat(lease).isNotNull();
		return lease;
	}

	/** Starts to wait on a thread of its own. */
	FutureTask<@Nullable TestLease> start(LockRequest request) {
		return Threads.start(() -> TestLease.acquire(this.backend, request));
	}

	/** Those who hold a lock or wait for it, in their order. */
	List<KeyValue> entries(String key) {
		return EtcdQueue.of(this.client, key).all().join();
	}

	/** All keys in etcd, or those with a text in them. */
	List<String> keys(String text) {
		return this.client.getKVClient()
			.get(EtcdQueue.bytes("\0"), GetOption.builder().withRange(EtcdQueue.bytes("\0")).withKeysOnly(true).build())
			.join()
			.getKvs()
			.stream()
			.map((entry) -> entry.getKey().toString(StandardCharsets.UTF_8))
			.filter((key) -> key.contains(text))
			.toList();
	}

	static boolean release(TestLease lease) {
		return lease.release().join();
	}

	@Override
	public void close() {
		this.client.close();
	}

}
