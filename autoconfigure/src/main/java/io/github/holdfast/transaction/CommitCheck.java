package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockRequest;

/**
 * The check of all locks of a call chain before one commit.
 */
final class CommitCheck {

	private final GuardedManager manager;

	private final boolean readOnly;

	private final LockListener.HeldLock innermost;

	private final List<ReplacedVersion> replaced = new ArrayList<>();

	/**
	 * Create a check.
	 */
	CommitCheck(GuardedManager manager, TransactionExecution transaction, LockListener.HeldLock innermost) {
		this.manager = manager;
		this.readOnly = transaction.isReadOnly();
		this.innermost = innermost;
	}

	/**
	 * Check the locks.
	 * @throws LockLostException if one of them does not allow the commit
	 */
	void run() {
		String lost = findLost(this.innermost);
		if (lost != null) {
			for (LockListener.HeldLock lock = this.innermost; lock != null; lock = lock.outer()) {
				lock.lossReported();
			}
			throw new LockLostException(lost, this.manager.lossDetail(), null);
		}
	}

	/**
	 * Note that the commit comes next.
	 */
	void committing(@Nullable RunningTransaction running) {
		if (running != null) {
			running.committing(this.replaced);
		}
		else {
			this.replaced.forEach(ReplacedVersion::committed);
		}
		noteGuarded();
	}

	private void noteGuarded() {
		for (LockListener.HeldLock lock = this.innermost; lock != null; lock = lock.outer()) {
			boolean guarded = (lock.mode() == LockRequest.Mode.OPTIMISTIC)
					? this.manager.guarding() == CommitGuardLevel.FENCE : this.manager.isSql() && !this.readOnly;
			if (guarded) {
				lock.guarded();
			}
		}
	}

	/**
	 * Checks each lease once, those of the outermost lock first.
	 */
	private @Nullable String findLost(LockListener.HeldLock lock) {
		LockListener.HeldLock outer = lock.outer();
		String lost = (outer != null) ? findLost(outer) : null;
		for (int i = 0; i < lock.leases().size() && lost == null; i++) {
			LockLease lease = lock.leases().get(i);
			if (!isChecked(lease, outer) && !isHeld(lock, i)) {
				lost = lock.keys().get(i);
			}
		}
		return lost;
	}

	private static boolean isChecked(LockLease lease, LockListener.@Nullable HeldLock from) {
		for (LockListener.HeldLock lock = from; lock != null; lock = lock.outer()) {
			if (lock.leases().contains(lease)) {
				return true;
			}
		}
		return false;
	}

	private boolean isHeld(LockListener.HeldLock lock, int index) {
		LockLease lease = lock.leases().get(index);
		return switch (this.manager.guarding()) {
			case LEASE -> lease.isValid();
			case VERIFY -> lease.renew(lock.leaseTime());
			case FENCE -> isHeldAtFence(lock, index, lease);
		};
	}

	private boolean isHeldAtFence(LockListener.HeldLock lock, int index, LockLease lease) {
		String key = lock.keys().get(index);
		if (lease instanceof VersionLease version) {
			checkVersion(lock, key, version);
			return true;
		}
		if (lock.mode() == LockRequest.Mode.SHARED) {
			return isHeldShared(key, lease);
		}
		if (this.readOnly) {
			return lease.isValid() && this.manager.fence().holds(this.manager.dataSource(), lease, true);
		}
		return this.manager.fence().holds(this.manager.dataSource(), lease, false);
	}

	/**
	 * Shared holders have no row in the fence table, as there are several of them.
	 */
	private boolean isHeldShared(String key, LockLease lease) {
		if (!this.readOnly) {
			throw new IllegalStateException("Lock " + LockException.quote(key)
					+ " is shared: at the level 'fence', only read-only transactions may commit under it; "
					+ "this one was rolled back. Declare it @Transactional(readOnly = true), or lock exclusively");
		}
		return lease.isValid();
	}

	private void checkVersion(LockListener.HeldLock lock, String key, VersionLease version) {
		if (version.isCommitted() && this.readOnly) {
			return;
		}
		if (version.isCommitted()) {
			throw new IllegalStateException("Lock " + LockException.quote(key)
					+ " is optimistic and has had its commit. A second one could not be repeated without the first, "
					+ "so it was rolled back. Let the body have one transaction, "
					+ "without REQUIRES_NEW or a second TransactionTemplate in it");
		}
		if (!this.manager.fence().isCurrent(this.manager.dataSource(), version, this.readOnly)) {
			lock.overtaken();
			throw new LockLostException(key, "it is optimistic, and another commit under this key came first", null);
		}
		if (!this.readOnly) {
			this.replaced.add(new ReplacedVersion(lock, version));
		}
	}

}
