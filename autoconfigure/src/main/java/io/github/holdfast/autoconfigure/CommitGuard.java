package io.github.holdfast.autoconfigure;

/**
 * Protection of the commits of transactions under a lock.
 */
public enum CommitGuard {

	/**
	 * Transactions lock the row of their lock in the database, which refuses a holder
	 * whose lock has gone to another one.
	 */
	FENCE,

	/**
	 * Only the clock of this process tells whether a lease has run out. Needs no table.
	 */
	LEASE

}
