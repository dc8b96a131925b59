package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;

/** A store for one key, beside the databases of all nodes, that can lose its lock. */
final class ForgetfulStore implements LockBackend {

	private final AtomicReference<Held> held = new AtomicReference<>();

	private final AtomicReference<Runnable> afterNextGrant = new AtomicReference<>();

	private volatile int grants;

	/** Gives the lock to the next one although its holder still works. */
	void forget() {
		this.held.set(null);
	}

	/** Does something between the next grant and what its holder does with it. */
	void afterNextGrant(Runnable action) {
		this.afterNextGrant.set(action);
	}

	boolean isHeld() {
		return this.held.get() != null;
	}

	int grants() {
		return this.grants;
	}

	@Override
	public Lease acquire(LockRequest request) throws InterruptedException {
		Lease lease = grant(request);
		Runnable action = this.afterNextGrant.getAndSet(null);
		if (action != null) {
			action.run();
		}
		return lease;
	}

	private synchronized Lease grant(LockRequest request) throws InterruptedException {
		if (request.key().endsWith("startup-check")) {
			return new Held(0, System.nanoTime(), this.held);
		}
		long sentAt = System.nanoTime();
		Held lease = new Held(this.grants + 1, sentAt, this.held);
		while (!this.held.compareAndSet(null, lease)) {
			if (System.nanoTime() - sentAt >= request.waitTime().toNanos()) {
				return null;
			}
			wait(10);
		}
		this.grants++;
		return lease;
	}

	@Override
	public String name() {
		return "forgetful";
	}

	private record Held(long epoch, long sentAt, AtomicReference<Held> place) implements Lease {

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return CompletableFuture.completedStage(this.place.get() == this);
		}

		@Override
		public CompletionStage<Boolean> release() {
			return CompletableFuture.completedStage(this.epoch == 0 || this.place.compareAndSet(this, null));
		}

	}

}
