package io.github.holdfast.store;

import java.sql.SQLTransientConnectionException;
import java.util.NoSuchElementException;

/**
 * Tells a store that fails from a pool of this process that has no connection left: then
 * nothing is known about the store.
 *
 * @since 0.2.0
 */
public final class Shortage {

	private static final String HIKARI = "Connection is not available, request timed out";

	private Shortage() {
	}

	/**
	 * Whether a failure comes from a pool whose connections are all in use: that of
	 * Commons has no such element. Pools that could not connect name the failure of that
	 * as their cause.
	 * @param failure the failure
	 * @return {@code false} also if that is not known
	 */
	public static boolean isIn(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause.getCause() == null
					&& (isOfHikari(cause) || cause instanceof NoSuchElementException || isOfTomcat(cause))) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Tells what to do if a failure is one, as the end of the sentence.
	 * @param failure the failure
	 * @return an empty text for every other failure
	 */
	public static String remedy(Throwable failure) {
		return isIn(failure)
				? ", as no connection of the pool was free. A call inside a running transaction needs a second one"
				: "";
	}

	/**
	 * A pool without any connection waits for the database.
	 */
	private static boolean isOfHikari(Throwable failure) {
		String message = failure.getMessage();
		return failure instanceof SQLTransientConnectionException && message != null && message.contains(HIKARI)
				&& !message.contains("total=0");
	}

	private static boolean isOfTomcat(Throwable failure) {
		return failure.getClass().getName().equals("org.apache.tomcat.jdbc.pool.PoolExhaustedException");
	}

}
