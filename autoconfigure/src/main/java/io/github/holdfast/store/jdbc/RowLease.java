package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.TransactionLease;

/**
 * A row of the lock table that a business transaction locks by its first statement, and
 * keeps locked to its end. It needs no renewal and no release: the database frees the row
 * with the end of the transaction, however that ends. Safe for use by many threads.
 */
final class RowLease implements TransactionLease {

	private final LockRequest request;

	private final boolean freedEarly;

	private final Deadline deadline;

	private volatile State state = State.PENDING;

	private volatile long epoch;

	private @Nullable Runnable next;

	/**
	 * Create a pending lease.
	 * @param freedEarly whether the database frees the row before the commit is durable
	 */
	RowLease(LockRequest request, boolean freedEarly) {
		this.request = request;
		this.freedEarly = freedEarly;
		this.deadline = Deadline.after(request.waitTime());
	}

	LockRequest request() {
		return this.request;
	}

	/**
	 * Until when the caller wants to wait.
	 */
	Deadline deadline() {
		return this.deadline;
	}

	@Override
	public synchronized void whenNextMayAsk(Runnable action) {
		this.next = action;
		letNextAsk();
	}

	private void letNextAsk() {
		Runnable next = this.next;
		if (next != null && (this.freedEarly ? !isPending() : !isValid())) {
			this.next = null;
			next.run();
		}
	}

	/**
	 * Note that the transaction has the row locked.
	 */
	synchronized void taken(long epoch) {
		this.epoch = epoch;
		this.state = State.TAKEN;
		letNextAsk();
	}

	/**
	 * Note that the transaction has been committed, or that its row is that of another
	 * one.
	 */
	synchronized void over(State state) {
		this.state = state;
		letNextAsk();
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

	@Override
	public boolean isPending() {
		return this.state == State.PENDING;
	}

	@Override
	public @Nullable Duration remaining() {
		return null;
	}

	@Override
	public boolean isValid() {
		return this.state == State.PENDING || this.state == State.TAKEN;
	}

	@Override
	public boolean renew(Duration leaseTime) {
		return isValid();
	}

	@Override
	public CompletionStage<Boolean> release() {
		boolean held = this.state != State.LOST;
		over(held ? State.ENDED : State.LOST);
		return CompletableFuture.completedFuture(held);
	}

	/**
	 * What has become of the row.
	 */
	enum State {

		/** The transaction has not locked it yet. */
		PENDING,

		/** The transaction has it locked. */
		TAKEN,

		/** The transaction is over, or was not made. */
		ENDED,

		/** Another one has had it, although the transaction was not over. */
		LOST

	}

}
