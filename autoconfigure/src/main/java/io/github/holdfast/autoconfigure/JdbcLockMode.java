package io.github.holdfast.autoconfigure;

/**
 * How a SQL database keeps locks.
 *
 * @since 0.2.0
 */
public enum JdbcLockMode {

	/**
	 * Transaction locks: the business transaction locks the row by its first statement,
	 * and keeps it locked to its end. Where that is not possible, a lease.
	 */
	TRANSACTION,

	/** Leases on the rows, which are renewed. */
	LEASE

}
