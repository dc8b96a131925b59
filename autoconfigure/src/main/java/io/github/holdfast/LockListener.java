package io.github.holdfast;

import java.time.Duration;
import java.util.List;

/**
 * Observes what becomes of each call that needs locks: nothing that it does changes the
 * call, and an exception is logged.
 *
 * <p>
 * Each call is attempted, then either not acquired, or acquired, ended and released. In
 * between come losses, once for each key, and failures of the store. A re-entrant call
 * that needs no new key is not observed. Each attempt of an optimistic lock is a call.
 * Methods are called on the thread of the call, except for what the call does not wait
 * for: a loss and a failure that a renewal has found, and a release that is answered
 * later. Those come, one after the other, on a thread of this library that has nothing
 * else to do, and so does a release that would otherwise overtake them. A call that is
 * closed on another thread ends on that one. Implementations may block, but delay their
 * call by that, or what comes later; they are safe for use by many threads.
 *
 * @since 0.2.0
 */
public interface LockListener {

	/**
	 * Called before the store is asked.
	 * @param call the call
	 */
	default void attempted(Call call) {
	}

	/**
	 * Called when all keys are held. {@link LockContext#current()} is the lock, with its
	 * leases and tokens. If the transaction of the method takes the lock, this is called
	 * in it: on PostgreSQL, a statement that fails there aborts it.
	 * @param call the call
	 * @param waitTime how long that took
	 */
	default void acquired(Call call, Duration waitTime) {
	}

	/**
	 * Called when the locks were not acquired; none is held then.
	 * @param call the call
	 * @param reason why
	 * @param waitTime how long that took
	 * @param cause what the caller gets
	 */
	default void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
	}

	/**
	 * Called when the store has failed or did not answer.
	 * @param call the call
	 * @param operation what it was asked for
	 * @param failure how it failed
	 */
	default void storeFailed(Call call, Operation operation, Throwable failure) {
	}

	/**
	 * Called once for each key whose lock is known to be lost while it was held: by a
	 * renewal, the check before a commit, or the release.
	 * @param call the call
	 * @param key the key as the caller gave it
	 * @param holdTime how long it has been since the lock was acquired
	 */
	default void lost(Call call, String key, Duration holdTime) {
	}

	/**
	 * Called when the code under the locks is over, before they are given back. A lock
	 * that a commit has released may be held by the next one already.
	 * @param call the call
	 */
	default void ended(Call call) {
	}

	/**
	 * Called when the locks have been given back and the store has answered, or when they
	 * stay behind or could not be given back.
	 * @param call the call
	 * @param outcome how it ended, the worst of all keys
	 * @param holdTime how long the locks were held by the call
	 */
	default void released(Call call, Outcome outcome, Duration holdTime) {
	}

	/**
	 * A listener whose methods do not block. Where all are so, what a call does not wait
	 * for is told by the thread that has found it out, such as one of the store's client,
	 * and no other thread wakes up for it.
	 *
	 * @since 0.3.0
	 */
	interface NonBlocking extends LockListener {

	}

	/**
	 * A call that needs locks.
	 *
	 * @param id tells this call from all others of this JVM
	 * @param name the lock's name
	 * @param keys the keys as the caller gave them, sorted, without those that the call
	 * chain held already
	 * @param mode how the locks are shared
	 * @param backend the name of the backend
	 * @param keyPrefix what the keys begin with in the store
	 * @param held the keys that the call chain holds already, as they are in the store
	 */
	record Call(long id, String name, List<String> keys, LockRequest.Mode mode, String backend, String keyPrefix,
			List<String> held) {

		public Call {
			keys = List.copyOf(keys);
			held = List.copyOf(held);
		}

	}

	/**
	 * What a store was asked for.
	 */
	enum Operation {

		/** To grant a lock. */
		ACQUIRE,

		/** To extend a lease. */
		RENEW,

		/** To take a lock back, or to keep it for the rest of its minimum hold time. */
		RELEASE

	}

	/**
	 * Why locks were not acquired.
	 */
	enum Reason {

		/** Another holder kept a lock for the whole wait time. */
		BUSY,

		/**
		 * As {@link #BUSY}, and the method is skipped then on purpose, by
		 * {@link DistributedLock.OnBusy#SKIP}.
		 */
		SKIPPED,

		/** The waiting thread was interrupted. */
		INTERRUPTED,

		/** The application is shutting down. */
		SHUTDOWN,

		/** Too many threads wait for a lock already. */
		QUEUE_FULL,

		/** The store failed or did not answer. */
		STORE_ERROR

	}

	/**
	 * How the locks of a call ended.
	 */
	enum Outcome {

		/** They were given back. */
		RELEASED,

		/** They stay behind for the rest of their minimum hold time. */
		HELD,

		/**
		 * Optimistic mode: another commit under the same key came first, and this one was
		 * refused.
		 */
		CONFLICT,

		/** The store had already given one to another holder, or freed it. */
		LOST,

		/** They were left to run out, as the outcome of a commit is unknown. */
		KEPT,

		/**
		 * The store did not answer; a lock runs out by itself unless another attempt to
		 * give it back succeeds.
		 */
		FAILED

	}

}
