package io.github.holdfast.transaction;

import java.sql.SQLException;

/**
 * Tells by its SQL state whether a commit that failed was refused by the database: then
 * it has not taken place. Any other failure leaves that open.
 */
final class CommitRefusal {

	private CommitRefusal() {
	}

	static boolean isRefusal(Throwable failure) {
		String state = sqlState(failure);
		return state.startsWith("23") || (state.startsWith("40") && !state.equals("40003"));
	}

	/**
	 * Whether it was refused as it was in conflict with another transaction.
	 */
	static boolean isConflict(Throwable failure) {
		return isRefusal(failure) && sqlState(failure).startsWith("40");
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
