package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongFunction;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.TransactionLease;

/**
 * A row of the lock table that a business transaction locks by its first statement, and
 * keeps locked to its end. It needs no renewal and no release: the database frees the row
 * with the end of the transaction, however that ends. Only a commit after which callbacks
 * are to come leaves a lease behind for them. Safe for use by many threads.
 */
final class RowLease implements TransactionLease {

	private final LockRequest request;

	private final boolean freedEarly;

	private final LongFunction<LockLease> leases;

	private final Deadline deadline;

	private volatile State state = State.PENDING;

	private volatile long epoch;

	/** What the commit leaves behind, if it does. */
	private volatile @Nullable LockLease kept;

	private @Nullable Runnable next;

	/**
	 * Create a pending lease.
	 * @param freedEarly whether the database frees the row before the commit is durable
	 * @param leases creates the lease of an epoch that the commit leaves behind
	 */
	RowLease(LockRequest request, boolean freedEarly, LongFunction<LockLease> leases) {
		this.request = request;
		this.freedEarly = freedEarly;
		this.leases = leases;
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
		this.kept = null;
		this.state = State.TAKEN;
		letNextAsk();
	}

	/**
	 * Note that the transaction is about to leave a lease behind, if it is committed.
	 */
	void keep() {
		this.kept = this.leases.apply(this.epoch);
	}

	/**
	 * Note that the transaction has been committed.
	 */
	void committed() {
		over((this.kept != null) ? State.KEPT : State.ENDED);
	}

	/**
	 * Note that the transaction has ended, or that its row is that of another one.
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
		LockLease kept = keptLease();
		return (kept != null) ? kept.remaining() : null;
	}

	@Override
	public boolean isValid() {
		LockLease kept = keptLease();
		return (kept != null) ? kept.isValid() : this.state == State.PENDING || this.state == State.TAKEN;
	}

	private @Nullable LockLease keptLease() {
		return (this.state == State.KEPT) ? this.kept : null;
	}

	@Override
	public boolean renew(Duration leaseTime) {
		LockLease kept = keptLease();
		return (kept != null) ? kept.renew(leaseTime) : isValid();
	}

	/**
	 * What a commit of unknown outcome may have left behind runs out.
	 */
	@Override
	public CompletionStage<Boolean> release() {
		LockLease kept = keptLease();
		boolean held = this.state != State.LOST;
		CompletionStage<Boolean> released = (kept != null) ? kept.release() : CompletableFuture.completedFuture(held);
		over(held ? State.ENDED : State.LOST);
		return released;
	}

	/**
	 * What has become of the row.
	 */
	enum State {

		/** The transaction has not locked it yet. */
		PENDING,

		/** The transaction has it locked. */
		TAKEN,

		/** The transaction is over, and has left a lease behind. */
		KEPT,

		/** The transaction is over, or was not made. */
		ENDED,

		/** Another one has had it, although the transaction was not over. */
		LOST

	}

}
