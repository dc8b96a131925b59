package io.github.holdfast.transaction;

/**
 * What is checked just before a transaction commits under a lock.
 *
 * @since 0.1.0
 */
public enum CommitGuardLevel {

	/**
	 * This process checks by its own clock, without I/O, that the lease has not run out
	 * and was not reported lost.
	 */
	LEASE("its lease has run out by the clock of this process, or the store reported it lost"),

	/**
	 * The backend is asked once more. On jdbc in the business database this is the same
	 * as {@link #FENCE}.
	 */
	VERIFY("the store says that it is no longer the holder"),

	/**
	 * The database decides inside the transaction: a holder that was superseded can never
	 * commit.
	 */
	FENCE("another holder has taken it since, or it was removed, as the fence row in the database says");

	private final String lossDetail;

	CommitGuardLevel(String lossDetail) {
		this.lossDetail = lossDetail;
	}

	String lossDetail() {
		return this.lossDetail;
	}

}
