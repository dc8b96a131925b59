package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;

/**
 * What an optimistic lock has instead of a lease: the version that its fence row had
 * before the transaction began. Nothing is held.
 */
final class VersionLease implements LockLease {

	private final LockRequest request;

	private final long epoch;

	private final long version;

	private final Deadline deadline;

	private volatile boolean committed;

	private volatile boolean released;

	VersionLease(LockRequest request, long epoch, long version, Deadline deadline) {
		this.request = request;
		this.epoch = epoch;
		this.version = version;
		this.deadline = deadline;
	}

	long version() {
		return this.version;
	}

	/**
	 * How long a commit may wait for another one that has the row locked.
	 */
	Duration patience() {
		return this.deadline.remaining();
	}

	/**
	 * Whether a transaction has replaced the version, so that it is no longer known.
	 */
	boolean isCommitted() {
		return this.committed;
	}

	void committed() {
		this.committed = true;
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
	public long token() {
		throw new UnsupportedOperationException("Lock " + LockException.quote(key())
				+ " is optimistic: others may work under it at the same time, so there is no fencing token");
	}

	@Override
	public @Nullable Duration remaining() {
		return null;
	}

	@Override
	public boolean isValid() {
		return !this.released;
	}

	@Override
	public boolean renew(Duration leaseTime) {
		return isValid();
	}

	@Override
	public CompletionStage<Boolean> release() {
		boolean first = !this.released;
		this.released = true;
		return CompletableFuture.completedStage(first);
	}

}
