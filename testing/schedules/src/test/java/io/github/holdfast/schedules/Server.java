package io.github.holdfast.schedules;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A store of locks: what it does takes no time, and nobody sees half of it. Not woven, so
 * that it has no points.
 */
public final class Server {

	private final Threads threads;

	private final Map<String, Lock> locks = new HashMap<>();

	private final Map<String, Integer> asking = new HashMap<>();

	private long epoch = 100;

	private int requests;

	/**
	 * Create a store without locks.
	 * @param threads the threads of the test
	 */
	public Server(Threads threads) {
		this.threads = threads;
	}

	/**
	 * Grants a lock that is free.
	 * @param key the key
	 * @param owner the owner
	 * @param nanos the lease time
	 * @return the epoch, or zero if the lock is not free
	 */
	public long grant(String key, String owner, long nanos) {
		this.requests++;
		if (!isFree(key)) {
			return 0;
		}
		this.locks.put(key, new Lock(owner, ++this.epoch, this.threads.now() + nanos));
		return this.epoch;
	}

	/**
	 * Extends a lock, if it is the owner's.
	 * @param key the key
	 * @param owner the owner
	 * @param nanos the lease time
	 * @return whether it is
	 */
	public boolean extend(String key, String owner, long nanos) {
		this.requests++;
		Lock lock = lock(key);
		if (lock == null || !lock.owner.equals(owner)) {
			return false;
		}
		this.locks.put(key, new Lock(owner, lock.epoch, this.threads.now() + nanos));
		return true;
	}

	/**
	 * Frees a lock, if it is the owner's.
	 * @param key the key
	 * @param owner the owner
	 * @return whether it was
	 */
	public boolean free(String key, String owner) {
		this.requests++;
		Lock lock = lock(key);
		if (lock == null || !lock.owner.equals(owner)) {
			return false;
		}
		this.locks.remove(key);
		return true;
	}

	/**
	 * Frees a lock, whosoever it is.
	 * @param key the key
	 */
	public void drop(String key) {
		this.locks.remove(key);
	}

	/**
	 * Whether nobody has a lock.
	 * @param key the key
	 * @return {@code true} also once it has run out
	 */
	public boolean isFree(String key) {
		return lock(key) == null;
	}

	/**
	 * Whether a lock is an owner's.
	 * @param key the key
	 * @param owner the owner
	 * @return {@code false} also once it has run out
	 */
	public boolean isHeldBy(String key, String owner) {
		Lock lock = lock(key);
		return lock != null && lock.owner.equals(owner);
	}

	/**
	 * How often the store was asked for anything.
	 * @return the number
	 */
	public int requests() {
		return this.requests;
	}

	private @Nullable Lock lock(String key) {
		Lock lock = this.locks.get(key);
		return (lock != null && lock.end > this.threads.now()) ? lock : null;
	}

	/**
	 * Notes that a thread asks for a lock.
	 * @param key the key
	 */
	public void beginAsking(String key) {
		this.threads.check(this.asking.merge(key, 1, Integer::sum) == 1,
				"one thread for each key asks the store for it");
	}

	/**
	 * Notes that a thread has its answer.
	 * @param key the key
	 */
	public void endAsking(String key) {
		this.asking.merge(key, -1, Integer::sum);
	}

	private record Lock(String owner, long epoch, long end) {
	}

}
