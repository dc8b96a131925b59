package io.github.holdfast.autoconfigure;

/**
 * How a SQL database keeps locks.
 *
 * @since 0.2.0
 */
public enum JdbcLockMode {

	/**
	 * As rows of a table that the business transaction locks by its first statement, and
	 * keeps locked to its end. Where that is not possible, as in the other mode.
	 */
	TRANSACTION,

	/** As rows of a table, with leases that are renewed. */
	LEASE

}
