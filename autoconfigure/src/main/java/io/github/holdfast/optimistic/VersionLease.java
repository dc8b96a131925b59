package io.github.holdfast.optimistic;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.GrantedLease;

/**
 * What an optimistic lock has instead of a lease: the version that its fence row had
 * before the transaction began. Nothing is held.
 *
 * @since 0.2.0
 */
public final class VersionLease extends GrantedLease {

	private final FenceVersions versions;

	private final long version;

	private final Deadline deadline;

	private volatile boolean committed;

	private volatile boolean released;

	VersionLease(LockRequest request, FenceVersions versions, long epoch, long version, Deadline deadline) {
		super(request, epoch);
		this.versions = versions;
		this.version = version;
		this.deadline = deadline;
	}

	long version() {
		return this.version;
	}

	/**
	 * How long a commit may wait for another one that has the row locked, where it does.
	 */
	Duration patience() {
		return this.deadline.remaining();
	}

	/**
	 * Check inside the transaction of this thread that there was no commit of another one
	 * since the version was read, and replace it.
	 * @param managed the DataSource of the transaction's manager
	 * @param readOnly whether the transaction must not change rows, as it changes no
	 * other data either
	 * @return {@code false} if there was another commit, or is one under way
	 */
	public boolean isCurrent(DataSource managed, boolean readOnly) {
		return this.versions.isCurrent(managed, this, readOnly);
	}

	/**
	 * Whether a transaction has replaced the version, so that it is no longer known.
	 * @return {@code true} after its commit
	 */
	public boolean isCommitted() {
		return this.committed;
	}

	/**
	 * Note that the transaction that has replaced the version was committed, or may have
	 * been.
	 */
	public void committed() {
		this.committed = true;
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
