package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
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

	private TestStore store;

	protected abstract TestStore open() throws Exception;

	@BeforeEach
	final void openStore() throws Exception {
		this.key = "contract:" + UUID.randomUUID();
		this.store = open();
	}

	@AfterEach
	final void closeStore() {
		if (this.store != null) {
			this.store.proxy().inject(Fault.NONE);
			close(this.store);
		}
		SparedThreads.assertSpared();
	}

	/** Closes the store after a test. Default: at once. */
	protected void close(TestStore store) {
		store.close();
	}

	protected final TestStore store() {
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

	/** Starts something on a thread of its own. */
	protected static <T extends @Nullable Object> FutureTask<T> start(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		Thread thread = new Thread(task, "contract-test");
		thread.setDaemon(true);
		thread.start();
		return task;
	}

}
