package io.github.holdfast.sql;

import java.sql.SQLException;
import java.util.Set;

/**
 * What the SQL states of failures mean, which are the same on all databases.
 *
 * @since 0.2.0
 */
public final class SqlStates {

	/**
	 * A time-out of an idle transaction, and of PostgreSQL an administrator, a crash, and
	 * a time-out of an idle session.
	 */
	private static final Set<String> ENDS_OF_SESSION = Set.of("25S03", "25P03", "57P01", "57P02", "57P05");

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
	static boolean isEndOfSession(SQLException failure) {
		String state = String.valueOf(failure.getSQLState());
		return state.startsWith("08") || ENDS_OF_SESSION.contains(state);
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
