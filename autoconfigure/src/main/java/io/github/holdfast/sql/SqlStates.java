package io.github.holdfast.sql;

import java.sql.SQLException;

/**
 * What the SQL states of failures mean, which are the same on all databases.
 *
 * @since 0.1.0
 */
public final class SqlStates {

	private SqlStates() {
	}

	/**
	 * Whether a commit that failed was refused by the database: then it has not taken
	 * place. Any other failure leaves that open.
	 * @param failure the failure, whatever it is wrapped in
	 * @return {@code true} if nothing was committed
	 */
	public static boolean isRefusal(Throwable failure) {
		String state = sqlState(failure);
		return state.startsWith("23") || (state.startsWith("40") && !state.equals("40003"));
	}

	/**
	 * Whether a commit was refused as it was in conflict with another transaction.
	 * @param failure the failure, whatever it is wrapped in
	 * @return {@code true} if the same transaction may succeed later
	 */
	public static boolean isConflict(Throwable failure) {
		return isRefusal(failure) && sqlState(failure).startsWith("40");
	}

	/**
	 * Whether the connection to the database is broken, or its session has ended.
	 * @param failure the failure
	 * @return {@code true} if nothing more can be done in that session
	 */
	public static boolean isEndOfSession(SQLException failure) {
		String state = String.valueOf(failure.getSQLState());
		return state.startsWith("08") || state.equals("25S03");
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
