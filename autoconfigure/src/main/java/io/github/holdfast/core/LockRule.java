package io.github.holdfast.core;

import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;

import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;

/**
 * A rule of this library that locked calls have to keep. Unlike other listeners it takes
 * part in the call: it may refuse it, and prepare the thread for it.
 *
 * <p>
 * Called on the thread of the call. Of a re-entrant call that needs no new key only the
 * beginning is told. Implementations are safe for use by many threads.
 */
public interface LockRule extends LockListener {

	/**
	 * Called before anything is acquired. An exception refuses the call and reaches the
	 * caller.
	 * @param attempt what is about to be acquired
	 */
	default void beforeAcquire(Attempt attempt) {
	}

	/**
	 * Called for the keys that the call chain holds already, and before
	 * {@link #beforeAcquire} if there are others. An exception refuses the call and
	 * reaches the caller.
	 * @param attempt what is asked for
	 */
	default void beforeReentry(Attempt attempt) {
	}

	/**
	 * Whether a call gets something of its own in the place of a resource, so that its
	 * body neither uses nor changes it. Default: no.
	 * @param resource what Spring has bound to the thread
	 * @return {@code true} if {@link #acquired} replaces it
	 */
	default boolean replaces(Object resource) {
		return false;
	}

	/**
	 * Whether the transaction of the body may claim its locks, with no lease before it.
	 * Default: yes.
	 * @return {@code false} if something could be committed before the claim
	 */
	default boolean allowsClaims() {
		return true;
	}

	/**
	 * Called when all keys are held, before the body. An exception releases them and
	 * reaches the caller.
	 * @param lock the lock
	 */
	default void acquired(HeldLock lock) {
	}

	/**
	 * Called when the body is over, before the lock is given back, on the thread that
	 * gives it back, last rule first, and each of them even if another one has failed. An
	 * exception reaches the caller after the lock has been given back.
	 * @param lock the lock
	 */
	default void beforeRelease(HeldLock lock) {
	}

	/**
	 * Called when a call is closed, on the thread that closes it, last rule first, and
	 * each of them even if another one has failed: after the lock has been given back, or
	 * before a release that was postponed. An exception reaches the caller.
	 * @param lock the lock
	 */
	default void closed(HeldLock lock) {
	}

	/**
	 * What is about to be acquired.
	 *
	 * @param name the lock's name
	 * @param keys the keys as the caller gave them, sorted, without those that are held
	 * already
	 * @param mode how the locks are shared
	 * @param propagation how the transaction of the body relates to a running one, or
	 * {@code null} if the body declares none
	 * @param transactionManager supplies the manager of that transaction, or {@code null}
	 * if it is not known; to be asked inside of running transactions only
	 */
	record Attempt(String name, List<String> keys, LockRequest.Mode mode, @Nullable Propagation propagation,
			Supplier<? extends @Nullable TransactionManager> transactionManager) {

		public Attempt {
			keys = List.copyOf(keys);
		}

	}

}
