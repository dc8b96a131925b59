package io.github.holdfast.testsupport;

import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.FaultProxy.Fault;

import static org.assertj.core.api.Assertions.assertThat;

/** What contracts with faults have in common: a store with two nodes, and one lock. */
abstract class StoreContract {

	/** One attempt. */
	protected static final Duration NO_WAIT = Duration.ZERO;

	/** Long enough never to end in a test that passes. */
	protected static final Duration PATIENCE = Duration.ofSeconds(30);

	protected String key = "";

	private TestStore<?> store;

	protected abstract TestStore<?> open() throws Exception;

	@BeforeEach
	final void openStore() throws Exception {
		this.key = "contract:" + UUID.randomUUID();
		this.store = open();
	}

	@AfterEach
	final void closeStore() throws IOException {
		if (this.store != null) {
			this.store.proxy().inject(Fault.NONE);
			this.store.close();
		}
		SparedThreads.assertSpared();
	}

	protected final TestStore<?> store() {
		return this.store;
	}

	/** The network between the first node and the store. */
	protected final FaultProxy proxy() {
		return this.store.proxy();
	}

	/** Whether somebody has the lock or waits for it. */
	protected final boolean isHeld() {
		return this.store.isHeld(this.key);
	}

	/** A request for the lock, for an owner of its own. */
	protected final LockRequest request(Duration waitTime) {
		return request(waitTime, this.store.leaseTime());
	}

	/** A request for the lock, for an owner of its own. */
	protected final LockRequest request(Duration waitTime, Duration leaseTime) {
		return request(this.key, waitTime, leaseTime);
	}

	static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return Requests.request(key, waitTime, leaseTime);
	}

	protected final TestLease acquired(LockBackend node) throws InterruptedException {
		TestLease lease = TestLease.acquire(node, request(PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	protected static CompletableFuture<Boolean> release(TestLease lease) {
		return lease.release();
	}

}
