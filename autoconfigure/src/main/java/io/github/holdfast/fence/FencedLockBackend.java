package io.github.holdfast.fence;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.DelegatingLockBackend;
import io.github.holdfast.store.Polling;

/**
 * Installs each exclusive lease of a store in the fence table before anybody gets to see
 * it, so that no earlier holder can commit any more.
 *
 * <ul>
 * <li>The transaction of an earlier holder is still open: the lease is renewed and the
 * installation tried again until the wait time is over. Then the lock counts as not
 * acquired.
 * <li>The table has the same or a larger epoch: either this lease was superseded
 * meanwhile, or the store counts behind the table since it has lost data. It is given
 * back and acquired again with an epoch above that of the table.
 * </ul>
 *
 * <p>
 * Leases of holders that claim them in their own transaction are not installed, unless
 * the table may have no row for them.
 *
 * <p>
 * Belongs below the local queue, so that a lease is installed once. Shared leases pass
 * by. Safe for use by many threads.
 *
 * @since 0.2.0
 */
public final class FencedLockBackend extends DelegatingLockBackend {

	private static final Duration SHORT = Duration.ofSeconds(1);

	/** How often to look whether a commit that has the row locked has ended. */
	private static final Polling COMMIT = new Polling(Duration.ofMillis(5), Duration.ofMillis(50));

	private final FenceTable table;

	/**
	 * Create a fence for a store.
	 * @param store the store
	 * @param table the rows of this store
	 */
	public FencedLockBackend(LockBackend store, FenceTable table) {
		super(store);
		this.table = table;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		if (!needsInstallation(request)) {
			return this.store.acquire(request);
		}
		Deadline deadline = Deadline.after(request.waitTime());
		LockRequest next = request;
		FenceEntry entry;
		boolean last;
		do {
			last = deadline.hasPassed() && next != request;
			LockLease lease = this.store.acquire(next.withWaitTime(deadline.remaining()));
			if (lease == null) {
				return null;
			}
			entry = installOrGiveBack(lease, next, deadline);
			if (entry == null) {
				return null;
			}
			if (entry.isOf(lease)) {
				return lease;
			}
			next = next.withMinEpoch(Math.max(next.minEpoch(), entry.epoch() + 1));
		}
		while (!last);
		if (FenceInstallation.isLost(entry)) {
			throw new LockBackendException(request.key(),
					"could not be acquired, its lease ran out before it was installed in the fence table", null);
		}
		return null;
	}

	private boolean needsInstallation(LockRequest request) {
		return request.mode() == LockRequest.Mode.EXCLUSIVE && !this.table.claims().canWait(request);
	}

	/**
	 * A lease whose first holder has not committed its claim is only for those who claim,
	 * too.
	 */
	@Override
	public boolean serves(LockLease lease, LockRequest request) {
		return request.claims() || !this.table.claims().isPending(lease);
	}

	private @Nullable FenceEntry installOrGiveBack(LockLease lease, LockRequest request, Deadline deadline)
			throws InterruptedException {
		FenceEntry entry;
		try {
			entry = new FenceInstallation(this.table, lease, request.leaseTime()).await(deadline);
			checkMinEpoch(entry, lease, request);
		}
		catch (InterruptedException | RuntimeException | Error ex) {
			giveBack(List.of(lease), ex);
			throw ex;
		}
		if (entry == null || !entry.isOf(lease)) {
			giveBack(List.of(lease), null);
		}
		return entry;
	}

	private void checkMinEpoch(@Nullable FenceEntry entry, LockLease lease, LockRequest request) {
		if (entry != null && !entry.isOf(lease) && lease.epoch() < request.minEpoch()) {
			throw new LockBackendException(lease.key(),
					"was granted with epoch " + lease.epoch() + ", but the fence table has " + entry.epoch()
							+ " for the source '" + this.table.source()
							+ "' already; a store that has been set up anew and counts from the start needs another "
							+ "'holdfast.fence.source'",
					null);
		}
	}

	/**
	 * Wait until the store has answered, so that the same owner can ask again.
	 */
	private static void giveBack(List<LockLease> leases, @Nullable Throwable cause) {
		RuntimeException failure = null;
		for (int i = leases.size() - 1; i >= 0; i--) {
			try {
				leases.get(i).release().toCompletableFuture().join();
			}
			catch (RuntimeException ex) {
				failure = (ex.getCause() instanceof LockBackendException store) ? store : ex;
				if (cause != null) {
					cause.addSuppressed(failure);
				}
			}
		}
		if (cause == null && failure != null) {
			throw failure;
		}
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		List<LockLease> leases = this.store.acquireAll(sorted);
		if (leases == null) {
			return null;
		}
		boolean installed;
		try {
			installed = installAll(sorted, leases);
		}
		catch (RuntimeException | Error ex) {
			boolean interrupted = Thread.interrupted();
			giveBack(leases, ex);
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
			if (interrupted && ex instanceof LockBackendException) {
				// The caller goes on with the first key, and finds the interrupt
				return null;
			}
			throw ex;
		}
		if (!installed) {
			giveBack(leases, null);
			return null;
		}
		return leases;
	}

	private boolean installAll(List<LockRequest> requests, List<LockLease> leases) {
		for (int i = 0; i < leases.size(); i++) {
			LockLease lease = leases.get(i);
			LockRequest request = requests.get(i);
			if (needsInstallation(request)) {
				FenceEntry entry = new FenceInstallation(this.table, lease, request.leaseTime())
					.attempt(Deadline.after(request.waitTime()));
				if (entry == null || !entry.isOf(lease)) {
					return false;
				}
			}
		}
		return leases.stream().allMatch(LockLease::isValid);
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		LockHolder holder = this.store.holder(key);
		if (holder != null) {
			return holder;
		}
		try {
			FenceEntry last = this.table.findLocked(key, SHORT);
			return (last != null) ? new LockHolder(last.owner(),
					"the transaction of the last holder (epoch " + last.epoch() + ") is still open in the database",
					null, null, last.epoch()) : null;
		}
		catch (SQLException ex) {
			throw new LockBackendException(key, "could not be looked up, the fence table failed", ex);
		}
	}

	/**
	 * Keeps the holder from committing first, so that this is also done for one whose
	 * lease has run out in the store. A holder that has not written its row yet is asked
	 * the store for, as any epoch could be written over an earlier one. A store that
	 * takes no locks away says so before any of it.
	 */
	@Override
	public Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		if (capabilities().contains(Capability.IN_PROCESS)) {
			return this.store.evict(key, owner, epoch);
		}
		FenceEntry evicted = new FenceEntry(epoch, owner);
		Boolean excluded = COMMIT.until(SHORT, (deadline) -> exclude(key, evicted));
		if (excluded == null) {
			return Eviction.IN_TRANSACTION;
		}
		Eviction eviction = this.store.evict(key, owner, epoch);
		return excluded ? Eviction.EVICTED : eviction;
	}

	private @Nullable Boolean exclude(String key, FenceEntry evicted) {
		try {
			return (this.table.isNamed(key, evicted, SHORT) || isHeld(key, evicted.owner(), evicted.epoch()))
					? this.table.exclude(key, evicted, SHORT) : Boolean.FALSE;
		}
		catch (SQLException ex) {
			throw new LockBackendException(key, "could not be taken away, the fence table failed", ex);
		}
	}

	private boolean isHeld(String key, String owner, long epoch) {
		LockHolder holder = this.store.holder(key);
		return holder != null && holder.isOf(owner, epoch);
	}

}
