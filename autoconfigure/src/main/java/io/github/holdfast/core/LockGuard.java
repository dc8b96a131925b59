package io.github.holdfast.core;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockException;
import io.github.holdfast.LockRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * The seam between locked calls and their transactions. Methods are called on the thread
 * of the call.
 */
public interface LockGuard {

	/** Guards nothing: locks are leases that only their own clock checks. */
	LockGuard NONE = new LockGuard() {
	};

	/**
	 * Decides how the transactions of a call are bound to its locks. The answer is the
	 * same at each call, unless the call joins a running transaction.
	 * @param settings the settings of the call
	 * @return the protection
	 */
	default Protection protectionOf(LockSettings settings) {
		return Protection.LEASE;
	}

	/**
	 * May refuse a call before anything is acquired.
	 * @param call the call
	 */
	default void beforeAcquire(LockCall call) {
	}

	/**
	 * Creates a lock that the transaction of the call takes by its first statement.
	 * @param request the key and the wait time
	 * @return the pending lock
	 */
	default PendingLease pending(LockRequest request) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Writes a grant into its row, so that no transaction of an earlier holder commits
	 * after this. Called before the body for {@link Protection#INSTALLED}.
	 * @param grant the grant
	 * @param nanos the wait time that is left
	 * @return {@code false} if a later holder is in the row, or the wait time is over
	 * @throws InterruptedException if the thread was interrupted
	 */
	default boolean install(Grant grant, long nanos) throws InterruptedException {
		return true;
	}

	/**
	 * Reads the version that an optimistic call must replace.
	 * @param request the key and the wait time
	 * @return the version, or {@code null} if the key was locked for the wait time
	 * @throws InterruptedException if the thread was interrupted
	 */
	default LockBackend.@Nullable Lease version(LockRequest request) throws InterruptedException {
		throw new UnsupportedOperationException("Optimistic locks need 'holdfast.commit-guard: fence'");
	}

	/**
	 * Whether the database has refused the work of a transaction because of others.
	 * @param failure what the body of an optimistic call has thrown
	 * @return {@code true} if the body may run again
	 */
	default boolean isConflict(Throwable failure) {
		return failure instanceof ConcurrencyFailureException && !(failure instanceof LockException);
	}

	/**
	 * Called when all keys are held, before the body. An exception releases them.
	 * @param call the call
	 */
	default void acquired(LockCall call) {
	}

	/**
	 * Called inside the transaction that the method declares, before the method. Throws
	 * what the claim of that transaction ended with.
	 * @param call the call
	 */
	default void beforeBody(LockCall call) {
	}

	/**
	 * Called when the body is over, before the locks are released. An exception reaches
	 * the caller after the release.
	 * @param call the call
	 * @param release releases the locks
	 * @return {@code true} if the guard runs the release later, on this thread: a
	 * transaction that has claimed the locks is still open
	 */
	default boolean beforeRelease(LockCall call, Runnable release) {
		return false;
	}

	/**
	 * Keeps the transactions of a holder from committing, before an operator takes its
	 * lock away.
	 * @param key the stored key
	 * @param epoch the epoch of its grant, or {@code null} if unknown
	 */
	default void exclude(String key, @Nullable Long epoch) {
	}

	/**
	 * How the transactions of a call are bound to its locks.
	 */
	enum Protection {

		/** The transaction takes the lock, and its COMMIT is the release. */
		TRANSACTION,

		/** The body is one transaction, whose first statement claims the leases. */
		CLAIMED,

		/** Leases are written into their rows before the body runs. */
		INSTALLED,

		/** Only the clock of this process checks the leases. */
		LEASE

	}

	/**
	 * A lock that is bound to a transaction, so that it has no lease time.
	 */
	interface TransactionBound extends LockBackend.Lease {

		@Override
		default long sentAt() {
			return System.nanoTime();
		}

		@Override
		default CompletionStage<Boolean> renew(Duration leaseTime) {
			return CompletableFuture.completedStage(true);
		}

		@Override
		default CompletionStage<Boolean> release() {
			return CompletableFuture.completedStage(true);
		}

		@Override
		default boolean expires() {
			return false;
		}

	}

	/**
	 * A lock that the transaction of the call takes.
	 */
	interface PendingLease extends TransactionBound {

		/**
		 * Waits, without a transaction, until another attempt may succeed. Called before
		 * each attempt.
		 * @param nanos how long to wait at most
		 * @return {@code false} if the time is over
		 * @throws InterruptedException if the thread was interrupted
		 */
		boolean awaitAttempt(long nanos) throws InterruptedException;

	}

	/**
	 * Ends an attempt whose transaction did not get its lock: the transaction is rolled
	 * back, and the body has not run.
	 */
	final class NotTakenException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final transient LockCall call;

		private final transient Runnable remedy;

		/**
		 * Create an exception.
		 * @param call the call whose transaction did not get its lock
		 * @param remedy what to do outside the transaction before the next attempt
		 */
		public NotTakenException(LockCall call, Runnable remedy) {
			super("The transaction did not get its lock", null, false, false);
			this.call = call;
			this.remedy = remedy;
		}

		void remedy() {
			this.remedy.run();
		}

		boolean isOf(LockCall call) {
			return this.call == call;
		}

	}

}
