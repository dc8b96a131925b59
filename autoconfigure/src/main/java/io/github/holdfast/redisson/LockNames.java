package io.github.holdfast.redisson;

import java.util.List;

import io.github.holdfast.support.LockKeys;

/**
 * The names of one lock. All of them have the lock's id as their hash tag, and so live in
 * one slot of a Cluster. A {@code NameMapper} of the client changes all of them.
 *
 * @param lock the name of the {@code RLock}
 * @param counter the key of the last epoch
 * @param queue the key of the order in which fair waiters came
 * @param tickets the key of the times until which fair waiters keep their places
 * @param channel where a release is told
 */
record LockNames(String lock, String counter, String queue, String tickets, String channel) {

	private static final int MAX_BYTES = 512;

	/**
	 * Returns the names of a lock. A closing brace would end the hash tag, so it is
	 * written as {@code %7d}.
	 */
	static LockNames of(String key) {
		String lock = "redisson:{" + LockKeys.id(key, MAX_BYTES).replace("}", "%7d") + "}";
		return new LockNames(lock, lock + ":epoch", lock + ":queue", lock + ":tickets", lock + ":released");
	}

	/**
	 * What every script needs.
	 */
	List<Object> keys() {
		return List.of(this.lock, this.counter);
	}

	/**
	 * What scripts for fair waiters need.
	 */
	List<Object> keysOfQueue() {
		return List.of(this.lock, this.counter, this.queue, this.tickets);
	}

}
