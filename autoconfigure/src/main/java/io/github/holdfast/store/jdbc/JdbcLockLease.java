package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.ExpiringLease;
import io.github.holdfast.store.ReleasedByCommit;

/**
 * A row of the lock table that carries this owner.
 */
final class JdbcLockLease extends ExpiringLease implements ReleasedByCommit {

	private final JdbcLockBackend backend;

	private final String id;

	JdbcLockLease(JdbcLockBackend backend, LockRequest request, String id, long epoch, Deadline deadline) {
		super(request, epoch, deadline);
		this.backend = backend;
		this.id = id;
	}

	@Override
	protected CompletionStage<Boolean> extend(Duration leaseTime) {
		return CompletableFuture.completedStage(this.backend.renew(request(), this.id, epoch(), leaseTime));
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		return this.backend.release(request(), this.id, end());
	}

	@Override
	public boolean isLast() {
		return true;
	}

	@Override
	public void releasedByCommit() {
		givenBack();
	}

}
