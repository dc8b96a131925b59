package io.github.holdfast.autoconfigure;

/**
 * How a SQL database keeps locks.
 *
 * @since 0.2.0
 */
public enum JdbcLockMode {

	/** As rows of a table, with leases that are renewed. */
	LEASE

}
