package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.github.holdfast.store.Digest;

/**
 * The names that belong to one lock. They follow the rules of Redisson, so that an
 * {@code RLock} of the same name is the same lock, and share one slot of a Cluster.
 *
 * @param names the lock itself, its last epoch, the queue of fair waiters, the times
 * until which they keep their places, the times until which the lock is shared, and the
 * channel of its releases
 */
record LockKey(List<String> names) {

	/** Longer keys are stored as their digest. */
	private static final int MAX_LENGTH = 512;

	/**
	 * Return the names of a lock. The lock is stored under the key itself, unless the key
	 * is long, or has braces that would separate the names in a Cluster.
	 */
	static LockKey of(String key) {
		String lock = (key.length() < MAX_LENGTH && isOneSlot(key)) ? key
				: "holdfast:{" + Digest.SHA_256.hex(key.getBytes(StandardCharsets.UTF_8)) + "}";
		// The rule of RedissonObject.prefixName
		String suffix = lock.contains("{") ? ":" + lock : ":{" + lock + "}";
		return new LockKey(List.of(lock, "holdfast_epoch" + suffix, "holdfast_queue" + suffix,
				"holdfast_tickets" + suffix, "holdfast_sharers" + suffix, "redisson_lock__channel" + suffix));
	}

	private static boolean isOneSlot(String key) {
		int open = key.indexOf('{');
		int close = key.indexOf('}', Math.max(open, 0));
		return (open < 0) ? close < 0 : close > open + 1;
	}

	String channel() {
		return this.names.get(this.names.size() - 1);
	}

}
