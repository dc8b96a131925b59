package io.github.holdfast.transaction;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;

import io.github.holdfast.LockLease;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.store.ReleasedByCommit;

/**
 * The release of a lock by the commit of the transaction that its body consists of. The
 * statement that proves each lease also frees its row, for others from the commit on. If
 * the transaction is rolled back, the lock is as it was.
 */
final class CommitRelease {

	private final HeldLock lock;

	private CommitRelease(HeldLock lock) {
		this.lock = lock;
	}

	/**
	 * The release of that lock of a transaction which has nothing left to do afterwards.
	 * @param transaction the transaction, after which nothing else is called that could
	 * work under its locks
	 * @param locks all of its locks
	 * @param manager the manager of the transaction
	 * @return the release, or {@code null} if no lock is to be released so
	 */
	static @Nullable CommitRelease of(TransactionExecution transaction, List<HeldLock> locks, GuardedManager manager) {
		for (HeldLock lock : locks) {
			if (manager.locksOf(lock).canRelease() && lock.mayEndWith(transaction)
					&& lock.leases().stream().allMatch(CommitRelease::isLast)) {
				lock.endsWith(transaction);
				return new CommitRelease(lock);
			}
		}
		return null;
	}

	/**
	 * The row of a lease that has run out may be locked by the transaction of a later
	 * holder. The release would wait for that one, and the database might end either.
	 */
	private static boolean isLast(LockLease lease) {
		return lease instanceof ReleasedByCommit released && released.isLast() && lease.isValid();
	}

	boolean isOf(HeldLock lock) {
		return this.lock == lock;
	}

	/**
	 * Note that the transaction has been committed.
	 */
	void committed() {
		this.lock.leases().forEach((lease) -> ((ReleasedByCommit) lease).releasedByCommit());
	}

}
