package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;

import io.github.holdfast.store.LockKeys;

/**
 * The names of one lock in Redis. All of them have the lock's id as their hash tag, and
 * so live in one slot of a Cluster.
 *
 * @param lock the key of the lock itself, while it is held
 * @param counter the key of the last epoch
 * @param queue the key of the order in which fair waiters came
 * @param tickets the key of the times until which fair waiters keep their places
 * @param sharing the key of the times until which those who share the lock do so
 * @param channel where a release is told
 */
record LockKey(String lock, String counter, String queue, String tickets, String sharing, String channel) {

	private static final int MAX_BYTES = 512;

	/**
	 * Returns the names of a lock. A closing brace would end the hash tag, so it is
	 * written as {@code %7d}.
	 */
	static LockKey of(String key) {
		String tag = "{" + LockKeys.id(key, MAX_BYTES).replace("}", "%7d") + "}";
		return new LockKey(tag, tag + ":epoch", tag + ":queue", tag + ":tickets", tag + ":sharing", tag + ":released");
	}

	byte[][] keys() {
		return new byte[][] { bytes(this.lock), bytes(this.counter) };
	}

	/**
	 * With those of the queue of fair waiters.
	 */
	byte[][] keysOfQueue() {
		return new byte[][] { bytes(this.lock), bytes(this.counter), bytes(this.queue), bytes(this.tickets) };
	}

	/**
	 * With those of the queue, and of those who share the lock.
	 */
	byte[][] keysOfSharing() {
		return new byte[][] { bytes(this.lock), bytes(this.counter), bytes(this.queue), bytes(this.tickets),
				bytes(this.sharing) };
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
