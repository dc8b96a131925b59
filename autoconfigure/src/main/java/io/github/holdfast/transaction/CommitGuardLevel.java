package io.github.holdfast.transaction;

/**
 * What is checked just before a transaction commits under a lock.
 *
 * @since 0.2.0
 */
public enum CommitGuardLevel {

	/**
	 * This process checks by its own clock, without I/O, that the lease has not run out
	 * and was not reported lost.
	 */
	LEASE,

	/**
	 * The backend is asked once more. On jdbc in the business database this is the same
	 * as {@link #FENCE}.
	 */
	VERIFY,

	/**
	 * The database decides inside the transaction: a holder that was superseded can never
	 * commit.
	 */
	FENCE

}
