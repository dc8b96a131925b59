package io.github.holdfast.transaction;

import java.sql.SQLException;

/**
 * A commit failed that was sent together with the check of a lease. Says whether its
 * outcome is known.
 */
final class CommitFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final RuntimeException managersOwn;

	/**
	 * Create an exception.
	 * @param cause the failure
	 * @param managersOwn what the transaction manager would throw
	 */
	CommitFailedException(Throwable cause, RuntimeException managersOwn) {
		super(cause);
		this.managersOwn = managersOwn;
	}

	RuntimeException managersOwn() {
		return this.managersOwn;
	}

	/**
	 * Whether the database refused the commit, which then has not taken place.
	 */
	boolean isRefusal() {
		return isRefusal(this);
	}

	/**
	 * A commit that the database refused has not taken place; any other failure leaves it
	 * open.
	 */
	static boolean isRefusal(Throwable failure) {
		String state = sqlState(failure);
		return state.startsWith("23") || (state.startsWith("40") && !state.equals("40003"));
	}

	/**
	 * Whether it was refused as it was in conflict with another transaction.
	 */
	static boolean isConflict(Throwable failure) {
		return sqlState(failure).startsWith("40");
	}

	private static String sqlState(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException ex && ex.getSQLState() != null) {
				return ex.getSQLState();
			}
		}
		return "";
	}

}
