package io.github.holdfast.autoconfigure;

/**
 * How a SQL database keeps locks.
 *
 * @since 0.2.0
 */
public enum JdbcLockMode {

	/** As rows of a table, with leases that are renewed. */
	TABLE,

	/**
	 * In the session of the connection that the business transaction uses as well, with
	 * the advisory locks of PostgreSQL or {@code GET_LOCK} of MySQL and MariaDB.
	 */
	SESSION

}
