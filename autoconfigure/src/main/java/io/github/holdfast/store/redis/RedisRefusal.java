package io.github.holdfast.store.redis;

import java.util.regex.Pattern;

/**
 * Errors that Redis reports instead of running a script.
 */
final class RedisRefusal {

	/** Redis 6 puts the text of the script in front. */
	private static final Pattern TEMPORARY = Pattern
		.compile("(^|: -)" + "(TRYAGAIN|MOVED|ASK|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|NOREPLICAS|BUSY) ");

	private RedisRefusal() {
	}

	/**
	 * Whether the same request may succeed later because Redis was not ready for it:
	 * Redis loads its data, runs another script, became a replica, has no replicas, or
	 * moves a slot of a Cluster.
	 * @param failure the exception of the client, with any wrappers
	 * @return {@code false} if a repetition would not help, or nothing is known
	 */
	static boolean isTemporary(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			if (message != null && TEMPORARY.matcher(message).find()) {
				return true;
			}
		}
		return false;
	}

}
