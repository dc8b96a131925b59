package io.github.holdfast.store.redis;

import java.util.regex.Pattern;

/**
 * What Redis answers while it is not ready for a request: it loads its data, another
 * script takes its time, it has just become a replica or has none, or the slot of a
 * Cluster is moved. Nothing was done, and the same request may succeed later.
 */
final class RedisRefusal {

	/** In front of the text, in Redis 6 with that of the script around it. */
	private static final Pattern TEMPORARY = Pattern
		.compile("(^|: -)" + "(TRYAGAIN|MOVED|ASK|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|NOREPLICAS|BUSY) ");

	private RedisRefusal() {
	}

	/**
	 * Whether the same request may succeed later.
	 * @param failure what a client has thrown, whatever it has wrapped the answer in
	 * @return {@code false} if asking again would not help, or nothing is known
	 */
	static boolean isTemporary(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (says(cause)) {
				return true;
			}
		}
		return false;
	}

	private static boolean says(Throwable failure) {
		String message = failure.getMessage();
		return message != null && TEMPORARY.matcher(message).find();
	}

}
