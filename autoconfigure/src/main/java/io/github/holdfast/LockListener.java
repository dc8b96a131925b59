package io.github.holdfast;

import java.time.Duration;
import java.util.List;

/**
 * Observes each call that needs locks. A listener cannot change the call; its exceptions
 * are logged.
 *
 * <p>
 * Each call is attempted, then either not acquired, or acquired and released. Between the
 * two, losses are reported once for each key. Failures of the backend are reported when
 * they are found. A nested call that needs no new key is not observed. Each attempt of an
 * optimistic lock is a call.
 *
 * <p>
 * Methods are called on the thread of the call. Losses and failures that a renewal or a
 * late answer finds are reported on another thread. A listener must not block for long,
 * because renewals may wait for it. Implementations are safe for use by many threads.
 */
public interface LockListener {

	/**
	 * Called before the store is asked.
	 * @param call the call
	 */
	default void onAttempt(Call call) {
	}

	/**
	 * Called when all keys are held. {@link LockContext#current()} is the lock, with its
	 * leases and tokens. If the transaction of the method takes the lock, this is called
	 * in it: on PostgreSQL, a statement that fails there aborts it.
	 * @param call the call
	 * @param waitTime how long that took
	 */
	default void onAcquired(Call call, Duration waitTime) {
	}

	/**
	 * Called when the locks were not acquired; none is held then.
	 * @param call the call
	 * @param reason why
	 * @param waitTime how long that took
	 * @param cause what the caller gets
	 */
	default void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
	}

	/**
	 * Called when the store has failed or did not answer.
	 * @param call the call
	 * @param operation what it was asked for
	 * @param failure how it failed
	 */
	default void onBackendFailure(Call call, Operation operation, Throwable failure) {
	}

	/**
	 * Called once for each key whose lock was lost while it was held. A renewal, the
	 * check before a commit, or a release that the call waited for has found the loss.
	 * @param call the call
	 * @param key the key as the caller gave it
	 * @param holdTime how long it has been since the lock was acquired
	 */
	default void onLost(Call call, String key, Duration holdTime) {
	}

	/**
	 * Called when the call has given its locks back. The store may answer later; a
	 * failure is reported then.
	 * @param call the call
	 * @param outcome how it ended, the worst of all keys
	 * @param holdTime how long the locks were held by the call
	 */
	default void onReleased(Call call, Outcome outcome, Duration holdTime) {
	}

	/**
	 * A call that needs locks.
	 *
	 * @param id a number that no other call of this JVM has
	 * @param name the lock's name
	 * @param keys the keys as the caller gave them, sorted; keys that the call chain
	 * already held are left out
	 * @param mode how the locks are shared
	 * @param backend the name of the backend
	 * @param keyPrefix what the keys begin with in the store
	 */
	record Call(long id, String name, List<String> keys, LockMode mode, String backend, String keyPrefix) {

		public Call {
			keys = List.copyOf(keys);
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
		 * Like {@link #BUSY}, and {@link DistributedLock.OnBusy#SKIP} skipped the method.
		 */
		SKIPPED,

		/** The waiting thread was interrupted. */
		INTERRUPTED,

		/** The application is shutting down. */
		SHUTDOWN,

		/** Too many threads wait for a lock already. */
		QUEUE_FULL,

		/** The store failed or did not answer. */
		BACKEND_FAILURE

	}

	/**
	 * How the locks of a call ended.
	 */
	enum Outcome {

		/** They were released. */
		RELEASED,

		/** They are kept for the rest of their minimum hold time. */
		HELD,

		/**
		 * Optimistic mode: another commit under the same key came first, and this one was
		 * rejected.
		 */
		CONFLICT,

		/** The store had already given one to another holder, or freed it. */
		LOST,

		/** They were left to expire, because the outcome of a commit is unknown. */
		KEPT,

		/**
		 * The store did not answer. A lock expires unless another attempt to release it
		 * succeeds.
		 */
		FAILED

	}

}
