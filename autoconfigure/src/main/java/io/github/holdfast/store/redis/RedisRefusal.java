package io.github.holdfast.store.redis;

import java.util.regex.Pattern;

/**
 * What Redis answers instead of doing what it is asked for.
 */
final class RedisRefusal {

	/** In front of the text, in Redis 6 with that of the script around it. */
	private static final Pattern TEMPORARY = Pattern
		.compile("(^|: -)" + "(TRYAGAIN|MOVED|ASK|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|NOREPLICAS|BUSY) ");

	private static final Pattern FINAL = Pattern.compile("^(ERR|NOPERM) ");

	private RedisRefusal() {
	}

	/**
	 * Whether the same request may succeed later, as Redis was not ready for it: it loads
	 * its data, another script takes its time, it has just become a replica or has none,
	 * or the slot of a Cluster is moved. Nothing was done.
	 * @param failure what a client has thrown, whatever it has wrapped the answer in
	 * @return {@code false} if asking again would not help, or nothing is known
	 */
	static boolean isTemporary(Throwable failure) {
		return says(failure, TEMPORARY);
	}

	/**
	 * Whether Redis has answered that it does not do this, now and later.
	 * @param failure what a client has thrown, whatever it has wrapped the answer in
	 * @return {@code false} if it may do so later, or nothing is known
	 */
	static boolean isFinal(Throwable failure) {
		return says(failure, FINAL) && !isTemporary(failure);
	}

	private static boolean says(Throwable failure, Pattern pattern) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			if (message != null && pattern.matcher(message).find()) {
				return true;
			}
		}
		return false;
	}

}
