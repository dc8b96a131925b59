package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceClaims;
import io.github.holdfast.optimistic.VersionLease;
import io.github.holdfast.store.TransactionLease;

/**
 * The check of all locks that a transaction belongs to, before something of it is
 * committed.
 */
final class CommitCheck {

	private static final String GIVEN_BACK = "it was given back, on this or another thread, while the transaction that "
			+ "belongs to it had not ended";

	private static final String TRY_AGAIN = "Try again: now that this method is known to have inner transactions, "
			+ "its locks are written before it";

	private final GuardedManager manager;

	private final RunningTransaction transaction;

	private final List<HeldLock> locks;

	private final @Nullable CommitRelease release;

	private final List<ReplacedVersion> replaced = new ArrayList<>();

	/**
	 * Create a check.
	 * @param locks the locks, outer ones first
	 * @param release what the commit is to release, or {@code null}
	 */
	CommitCheck(GuardedManager manager, RunningTransaction transaction, List<HeldLock> locks,
			@Nullable CommitRelease release) {
		this.manager = manager;
		this.transaction = transaction;
		this.locks = locks;
		this.release = release;
	}

	/**
	 * Check the locks, and each of their leases once.
	 * @return the versions of optimistic locks that the commit replaces
	 * @throws LockLostException if one of them does not allow the commit
	 */
	List<ReplacedVersion> run() {
		// Those of one lock are different ones
		Set<LockLease> checked = (this.locks.size() > 1) ? Collections.newSetFromMap(new IdentityHashMap<>()) : null;
		for (HeldLock lock : this.locks) {
			if (!lock.isHeld()) {
				throw refused(lock.keys().get(0), GIVEN_BACK);
			}
			for (int i = 0; i < lock.leases().size(); i++) {
				LockLease lease = lock.leases().get(i);
				if ((checked == null || checked.add(lease)) && !isHeld(lock, i)) {
					throw lost(lock, i);
				}
			}
		}
		return this.replaced;
	}

	private LockLostException lost(HeldLock lock, int index) {
		String key = lock.keys().get(index);
		FenceClaims claims = this.manager.locksOf(lock).claims();
		if (claims != null && claims.lost(lock.leases().get(index))) {
			// Another transaction than the one that has claimed it, if any
			lock.commits().bodyNotAlone();
		}
		lock.lost(key);
		return refused(key, this.manager.locksOf(lock).lossDetail(checkedBy(lock)));
	}

	/**
	 * Shared holders have no row that could tell.
	 */
	private CommitGuardLevel checkedBy(HeldLock lock) {
		CommitGuardLevel level = this.manager.locksOf(lock).guarding();
		boolean withoutRow = level == CommitGuardLevel.FENCE && lock.mode() == LockRequest.Mode.SHARED;
		return withoutRow ? CommitGuardLevel.LEASE : level;
	}

	private LockLostException refused(String key, String detail) {
		this.locks.forEach(HeldLock::lossReported);
		return new LockLostException(key, detail, null);
	}

	/**
	 * Note that the commit comes next.
	 */
	void noteGuarded() {
		for (HeldLock lock : this.locks) {
			boolean guarded = (lock.mode() == LockRequest.Mode.OPTIMISTIC)
					? this.manager.locksOf(lock).guarding() == CommitGuardLevel.FENCE
					: this.manager.isSql() && !this.transaction.commitsReadsOnly();
			if (guarded) {
				this.transaction.noteGuarded(lock);
			}
		}
	}

	private boolean isHeld(HeldLock lock, int index) {
		LockLease lease = lock.leases().get(index);
		GuardedLocks guarded = this.manager.locksOf(lock);
		return switch (guarded.guarding()) {
			case LEASE -> lease.isValid();
			case VERIFY -> lease.renew(lock.leaseTime());
			case FENCE -> isHeldAtFence(lock, index, lease, guarded.fence());
		};
	}

	private boolean isHeldAtFence(HeldLock lock, int index, LockLease lease, Fence fence) {
		String key = lock.keys().get(index);
		if (lease instanceof VersionLease version) {
			checkVersion(lock, key, version);
			return true;
		}
		if (lock.mode() == LockRequest.Mode.SHARED) {
			return isHeldShared(key, lease);
		}
		if (this.transaction.commitsReadsOnly() && !lease.isValid() && !(lease instanceof TransactionLease)) {
			return false;
		}
		Claim claim = TransactionStack.claimOf(lease);
		if (claim != null) {
			return isClaimHeld(claim, key, lease, fence);
		}
		if (this.release != null && this.release.isOf(lock)) {
			return fence.release(this.manager.dataSource(), lease);
		}
		boolean held = fence.holds(this.manager.dataSource(), lease, this.transaction.commitsReadsOnly());
		if (!held && (lease.isValid() || lease instanceof TransactionLease) && this.transaction.hasLostClaimOf(lease)) {
			throw new ConcurrencyFailureException("Lock " + LockException.quote(key) + " was written into its row "
					+ "by '" + this.transaction.name() + "', and everything that this transaction had done was "
					+ "rolled back by another one on the same connection, so that the rest was rolled back, too. "
					+ TRY_AGAIN);
		}
		return held;
	}

	/**
	 * Most databases may have rolled back what the connection did first, and let it go
	 * on. An inner transaction of another connection has nothing that would keep its
	 * commit from being overwritten once the outer one is rolled back. One on the same
	 * connection would give the lock back before the outer one has ended, if its commit
	 * is the release.
	 */
	private boolean isClaimHeld(Claim claim, String key, LockLease lease, Fence fence) {
		boolean released = lease instanceof TransactionLease && this.transaction.isBorrowing();
		if (this.transaction.hasClaimed(claim) && !released) {
			return (lease.isValid() && claim.isOpen()) || fence.holds(this.manager.dataSource(), lease, false);
		}
		if (this.transaction.commitsReadsOnly() && !released) {
			return lease.isValid();
		}
		claim.notAlone();
		throw new ConcurrencyFailureException("Lock " + LockException.quote(key) + " was written into its row by "
				+ "the outer transaction, which has not been committed, so that an inner transaction cannot be "
				+ "protected: '" + this.transaction.name() + "' was rolled back. " + TRY_AGAIN);
	}

	/**
	 * Shared holders have no row in the fence table, as there are several of them.
	 */
	private boolean isHeldShared(String key, LockLease lease) {
		if (!this.transaction.commitsReadsOnly()) {
			throw new IllegalStateException("Lock " + LockException.quote(key)
					+ " is shared: at the level 'fence', only read-only transactions may commit under it; "
					+ "this one was rolled back. Declare it @Transactional(readOnly = true), or lock exclusively");
		}
		return lease.isValid();
	}

	private void checkVersion(HeldLock lock, String key, VersionLease version) {
		boolean readOnly = this.transaction.commitsReadsOnly();
		if (version.isCommitted() && readOnly) {
			return;
		}
		if (version.isCommitted()) {
			throw new IllegalStateException("Lock " + LockException.quote(key)
					+ " is optimistic and has had its commit. A second one could not be repeated without the first, "
					+ "so it was rolled back. Let the body have one transaction, "
					+ "without REQUIRES_NEW or a second TransactionTemplate in it");
		}
		if (!version.isCurrent(this.manager.dataSource(), readOnly)) {
			lock.commits().conflict();
			throw new LockLostException(key, "it is optimistic, and another commit under this key came first", null);
		}
		if (!readOnly) {
			this.replaced.add(new ReplacedVersion(lock, version));
		}
	}

}
