package io.github.holdfast.test;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;

/**
 * One lock that the {@link TestLockBackend} has granted, also after its end.
 */
final class TestLease implements LockLease {

	private final TestLockBackend backend;

	private final LockRequest request;

	private final long epoch;

	private final Thread thread = Thread.currentThread();

	private volatile State state = State.HELD;

	private volatile int commits;

	TestLease(TestLockBackend backend, LockRequest request, long epoch) {
		this.backend = backend;
		this.request = request;
		this.epoch = epoch;
	}

	@Override
	public String key() {
		return this.request.key();
	}

	@Override
	public String owner() {
		return this.request.owner();
	}

	@Override
	public long epoch() {
		return this.epoch;
	}

	/**
	 * It does not run out by time.
	 */
	@Override
	public @Nullable Duration remaining() {
		return null;
	}

	@Override
	public boolean isValid() {
		return this.state.isHeld();
	}

	@Override
	public boolean renew(Duration leaseTime) {
		return this.backend.renew(this);
	}

	@Override
	public CompletionStage<Boolean> release() {
		return this.backend.release(this);
	}

	LockRequest request() {
		return this.request;
	}

	State state() {
		return this.state;
	}

	void state(State state) {
		this.state = state;
	}

	boolean isOf(Thread thread) {
		return this.thread == thread;
	}

	/**
	 * Whether one holder keeps the other out.
	 */
	boolean excludes(LockRequest other) {
		return this.request.key().equals(other.key())
				&& (this.request.mode() != LockMode.SHARED || other.mode() != LockMode.SHARED);
	}

	/**
	 * During how many commits of its thread it was held.
	 */
	int commits() {
		return this.commits;
	}

	void committed() {
		this.commits++;
	}

	/**
	 * What has become of a lock.
	 */
	enum State {

		HELD("still held"),

		/** The release was refused while the store was down. */
		LEFT_BEHIND("not released, as the store was down"),

		RELEASED("released"),

		LOST("lost");

		private final String text;

		State(String text) {
			this.text = text;
		}

		boolean isHeld() {
			return this == HELD;
		}

		boolean isInStore() {
			return this == HELD || this == LEFT_BEHIND;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
