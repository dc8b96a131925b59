package io.github.holdfast.transaction;

/**
 * How sure it is that only the holder of a lock commits under it.
 */
public enum CommitGuardLevel {

	/**
	 * The database decides: each transaction under a lock first locks the lock's row.
	 */
	FENCE,

	/** The clock of this process decides, just before the commit. Needs no table. */
	LEASE

}
