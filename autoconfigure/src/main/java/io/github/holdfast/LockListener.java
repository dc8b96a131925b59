package io.github.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;

/**
 * Is told what {@link LockTemplate} does, and may refuse an acquisition.
 *
 * <p>
 * Called on the thread of the caller. Of a re-entrant call that needs no new key only the
 * beginning is told. Implementations are safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface LockListener {

	/**
	 * Called before anything is acquired. An exception refuses the acquisition and
	 * reaches the caller.
	 * @param attempt what is about to be acquired
	 */
	default void beforeAcquire(Attempt attempt) {
	}

	/**
	 * Called instead of {@link #beforeAcquire} when the call chain holds all keys
	 * already. An exception refuses the call and reaches the caller.
	 * @param attempt what is asked for
	 */
	default void beforeReentry(Attempt attempt) {
	}

	/**
	 * Called when all keys are held. An exception releases them and reaches the caller.
	 * @param lock the lock
	 */
	default void acquired(HeldLock lock) {
	}

	/**
	 * Called when the body is over, before the lock is given back, on the thread that
	 * gives it back, last listener first. Not called if the lock is passed on right after
	 * a commit. An exception reaches the caller after the lock has been given back.
	 * @param lock the lock
	 */
	default void beforeRelease(HeldLock lock) {
	}

	/**
	 * Called when the lock has been given back, stays behind or could not be given back.
	 * An exception is logged.
	 * @param lock the lock
	 * @param outcome how it ended
	 */
	default void released(HeldLock lock, Outcome outcome) {
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
	 * @param transactionManager the manager of that transaction, or {@code null} if it is
	 * not known, or does not matter as no transaction is running or none is left
	 */
	record Attempt(String name, List<String> keys, LockRequest.Mode mode, @Nullable Propagation propagation,
			@Nullable TransactionManager transactionManager) {

		public Attempt {
			keys = List.copyOf(keys);
		}

	}

	/**
	 * A lock that is held, with what a listener may decide about its end.
	 */
	interface HeldLock extends LockContext {

		/**
		 * The lock around this one on the same thread.
		 * @return the next outer lock that is held, or {@code null} if there is none
		 */
		@Nullable HeldLock outer();

		/**
		 * Whether this lock has not been given back or passed on. It may be lost all the
		 * same.
		 * @return {@code false} once its end has begun, on whatever thread
		 */
		boolean isHeld();

		/**
		 * The locks that have acquired the keys of this one: itself, unless it needed no
		 * new key, after those outer ones that held some of its keys already.
		 * @return the locks, of which some may not be held any more
		 */
		List<? extends HeldLock> holders();

		/**
		 * Notes that a transaction is refused its commit, as another one under the same
		 * key came before this optimistic lock: the body has to run again.
		 */
		void overtaken();

		/**
		 * Notes that a transaction has replaced the version of this optimistic lock, or
		 * may have: the body must not run again, even if an earlier one was refused.
		 */
		void replaced();

		/**
		 * Notes that a transaction is about to commit after a check of this lock, so that
		 * a loss that is found later cannot have harmed it.
		 * @param transaction the transaction
		 */
		void guarded(TransactionExecution transaction);

		/**
		 * Notes that a loss has been reported to the caller by an exception.
		 */
		void lossReported();

		/**
		 * How the transaction of the body relates to a running one.
		 * @return the propagation, or {@code null} if the body declares none
		 */
		@Nullable Propagation propagation();

		/**
		 * How the keys are shared that this lock acquired.
		 * @return the mode
		 */
		LockRequest.Mode mode();

		/**
		 * The time by which a renewal extends the leases.
		 * @return the lease time
		 */
		Duration leaseTime();

		/**
		 * Notes that a commit under this lock has an unknown outcome, or that the outcome
		 * of one that was noted has become known. While one is unknown, the lock is
		 * neither renewed nor released but runs out, or is released after its lease time.
		 * @param transaction the transaction
		 * @param unknown whether the outcome is unknown
		 */
		void outcomeUnknown(TransactionExecution transaction, boolean unknown);

		/**
		 * Postpones the release: when the body has ended, {@code registrar} gets the
		 * action that releases the lock.
		 * @param registrar takes the action and runs it later, on the same thread
		 */
		void releaseLater(Consumer<Runnable> registrar);

		/**
		 * Notes that a transaction has begun under this lock.
		 * @param transaction the transaction
		 */
		void begun(TransactionExecution transaction);

		/**
		 * Notes that a transaction under this lock has been committed and all of its
		 * callbacks have been called. If the body consists of it, the lock may be passed
		 * on without waiting for the clean-up.
		 * @param transaction the transaction
		 * @param nothingPending whether the clean-up has nothing left to commit
		 */
		void committed(TransactionExecution transaction, boolean nothingPending);

		/**
		 * The innermost lock that the current call chain holds.
		 * @return the lock, or {@code null} if none is held
		 */
		static @Nullable HeldLock current() {
			return HeldLocks.current();
		}

	}

	/**
	 * How a lock ended.
	 */
	enum Outcome {

		/** It was given back. */
		RELEASED,

		/** It stays behind for the rest of its minimum hold time. */
		HELD,

		/** The store had already given it to another holder, or freed it. */
		LOST,

		/** It was left to run out, as the outcome of a commit is unknown. */
		KEPT,

		/**
		 * The store did not answer; the lock runs out by itself unless another attempt to
		 * give it back succeeds.
		 */
		FAILED

	}

}
