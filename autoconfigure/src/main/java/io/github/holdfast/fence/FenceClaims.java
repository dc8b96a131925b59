package io.github.holdfast.fence;

import java.sql.Connection;
import java.util.List;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;

/**
 * The claims of leases by the transactions that they protect: the first statement of a
 * transaction writes its holder into the row of the lock, and so keeps it locked to its
 * end. Until then no later holder gets to read anything; afterwards no earlier one can
 * commit.
 *
 * <p>
 * Safe for use by many threads.
 *
 * @since 0.2.0
 */
public interface FenceClaims {

	/**
	 * Whether a lease has not been written yet, so that transactions of earlier holders
	 * may still commit.
	 * @param lease the lease
	 * @return {@code false} if a transaction that has written it has been committed
	 */
	boolean isPending(LockLease lease);

	/**
	 * Write leases in the transaction of a connection.
	 * @param connection the connection, in a transaction in which nothing has been done
	 * @param leases the leases, in the order of their keys
	 * @param mayWait whether the transaction has no time-out of its own
	 * @return {@code false} if at least one was not written, so that the transaction has
	 * to be rolled back
	 * @throws LockBackendException if the table could not be written
	 */
	boolean claim(Connection connection, List<LockLease> leases, boolean mayWait);

	/**
	 * Whether transactions like that of a connection can claim at all. Default: yes.
	 * @param connection the connection, in a transaction that could not
	 * @return {@code false} if their reads may be older than their first statement
	 */
	default boolean isPossible(Connection connection) {
		return true;
	}

	/**
	 * Note that the row of a lease was found not to name it.
	 * @param lease the lease
	 * @return whether it was not expected to
	 */
	boolean lost(LockLease lease);

	/**
	 * Let the transaction that has written leases leave them behind when it is committed,
	 * for the callbacks that come after it. Default: nothing, as the store has them.
	 * @param connection the connection of the transaction
	 * @param leases the leases
	 * @throws LockBackendException if that is not possible
	 */
	default void keep(Connection connection, List<LockLease> leases) {
	}

	/**
	 * Note that the transaction that has written leases has been committed.
	 * @param leases the leases
	 */
	void committed(List<LockLease> leases);

	/**
	 * Note that the transaction that has written leases has been rolled back, or that
	 * nobody knows. Default: nothing, as the store has them.
	 * @param leases the leases
	 */
	default void rolledBack(List<LockLease> leases) {
	}

}
