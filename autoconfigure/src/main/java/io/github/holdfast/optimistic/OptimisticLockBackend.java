package io.github.holdfast.optimistic;

import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.DelegatingLockBackend;
import io.github.holdfast.store.Polling;

/**
 * Adds optimistic locks to a backend whose exclusive holders are fenced: nothing is
 * taken, but the version of the fence row is read, and replaced by the commit if it is
 * still the same. Optimistic requests join no queue; they wait only while an exclusive
 * holder is there. All other requests are those of the store.
 *
 * @since 0.2.0
 */
public final class OptimisticLockBackend extends DelegatingLockBackend {

	private static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final FenceVersions versions;

	/**
	 * Add optimistic locks to a backend.
	 * @param locks the backend, with its queue and its fence
	 * @param fence the fence that checks the commits of its holders
	 */
	public OptimisticLockBackend(LockBackend locks, RowFence fence) {
		super(locks);
		this.versions = new FenceVersions(fence);
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		if (request.mode() != LockRequest.Mode.OPTIMISTIC) {
			return this.store.acquire(request);
		}
		return POLLING.until(request.waitTime(), (deadline) -> {
			try {
				return attempt(request, deadline);
			}
			catch (SQLException ex) {
				if (Thread.interrupted()) {
					throw (InterruptedException) new InterruptedException().initCause(ex);
				}
				throw new LockBackendException(request.key(), "could not be read, the fence row failed", ex);
			}
		});
	}

	private @Nullable VersionLease attempt(LockRequest request, Deadline deadline)
			throws SQLException, InterruptedException {
		VersionLease version = this.versions.read(request, deadline, TIMEOUT);
		return (version == null && freed(request)) ? this.versions.read(request, deadline, TIMEOUT) : version;
	}

	/**
	 * The row may name a holder that has given its lock back to the store, or has died:
	 * then its lock can be had. Taking it keeps that holder from committing.
	 */
	private boolean freed(LockRequest request) throws SQLException, InterruptedException {
		LockLease exclusive = this.store
			.acquire(new LockRequest(request.key(), request.name(), LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO,
					request.leaseTime(), request.owner(), request.holder(), request.minEpoch()));
		if (exclusive == null) {
			return false;
		}
		try {
			this.versions.free(exclusive, TIMEOUT);
		}
		finally {
			// A failure shows in the row, which then still names a holder
			exclusive.release().handle((released, ex) -> released).toCompletableFuture().join();
		}
		return true;
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		return sorted.stream().anyMatch((request) -> request.mode() == LockRequest.Mode.OPTIMISTIC) ? null
				: this.store.acquireAll(sorted);
	}

	@Override
	public Set<Capability> capabilities() {
		Set<Capability> capabilities = EnumSet.of(Capability.OPTIMISTIC);
		capabilities.addAll(this.store.capabilities());
		return capabilities;
	}

}
