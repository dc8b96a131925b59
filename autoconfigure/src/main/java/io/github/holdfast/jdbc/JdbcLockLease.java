package io.github.holdfast.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;

/**
 * A row of the lock table that carries this owner.
 */
final class JdbcLockLease implements LockLease {

	private final JdbcLockBackend backend;

	private final LockRequest request;

	private final String id;

	private final long epoch;

	private volatile Deadline deadline;

	private volatile boolean ended;

	JdbcLockLease(JdbcLockBackend backend, LockRequest request, String id, long epoch, Deadline deadline) {
		this.backend = backend;
		this.request = request;
		this.id = id;
		this.epoch = epoch;
		this.deadline = deadline;
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
	public Duration remaining() {
		return this.ended ? Duration.ZERO : this.deadline.remaining();
	}

	@Override
	public boolean isValid() {
		return !this.ended && !this.deadline.hasPassed();
	}

	@Override
	public boolean renew(Duration leaseTime) {
		if (this.ended) {
			return false;
		}
		Deadline renewed = Deadline.ofLease(leaseTime);
		if (!this.backend.renew(this.request, this.id, this.epoch, leaseTime)) {
			this.ended = true;
			return false;
		}
		this.deadline = renewed;
		return !this.ended;
	}

	@Override
	public CompletionStage<Boolean> release() {
		this.ended = true;
		return this.backend.release(this.request, this.id);
	}

}
