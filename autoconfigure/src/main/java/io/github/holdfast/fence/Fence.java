package io.github.holdfast.fence;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;

/**
 * What tells, inside a transaction, whether a lease is still the latest one of its key: a
 * transaction that has found it held cannot commit over a later holder.
 *
 * @since 0.2.0
 */
public interface Fence {

	/**
	 * The database on which transactions are checked.
	 * @return its DataSource
	 */
	DataSource dataSource();

	/**
	 * Check a lease inside the transaction of this thread, and keep later holders out
	 * until it has ended.
	 * @param managed the DataSource of the transaction's manager
	 * @param lease the lease
	 * @param readOnly whether the transaction is declared read-only
	 * @return {@code false} if the lease has been superseded
	 */
	boolean holds(DataSource managed, LockLease lease, boolean readOnly);

	/**
	 * Whether the transactions of a manager can release locks by their commits. Default:
	 * no.
	 * @param managed the DataSource of the manager
	 * @return {@code false} also if that is not known yet
	 */
	default boolean canRelease(DataSource managed) {
		return false;
	}

	/**
	 * Check a lease as {@link #holds} does, and let the commit of the transaction release
	 * the lock. Only where {@link #canRelease} says so.
	 * @param managed the DataSource of the transaction's manager
	 * @param lease the lease
	 * @return {@code false} if the lease has been superseded
	 */
	default boolean release(DataSource managed, LockLease lease) {
		throw new UnsupportedOperationException("The lock is not in this database");
	}

	/**
	 * How transactions write leases into the rows themselves.
	 * @return the claims, or {@code null} if leases are written when they are granted
	 */
	default @Nullable FenceClaims claims() {
		return null;
	}

	/**
	 * What it means that a lease is not held.
	 * @return the end of a sentence
	 */
	String lossDetail();

}
