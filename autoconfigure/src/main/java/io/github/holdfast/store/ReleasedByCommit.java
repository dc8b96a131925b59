package io.github.holdfast.store;

import io.github.holdfast.LockLease;

/**
 * A lease of a store in which the transaction that it protects can release it, by its own
 * commit.
 *
 * @since 0.2.0
 */
public interface ReleasedByCommit extends LockLease {

	/**
	 * Whether nobody in this process can use the lease after its holder. Does no I/O.
	 * @return {@code false} if the lease is rather to be handed over
	 */
	boolean isLast();

	/**
	 * Notes that a commit has released the lock. The lease is over then, and
	 * {@link #release()} completes with {@code true} without asking the store.
	 */
	void releasedByCommit();

}
