package io.github.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * One granted lock: it belongs to whoever holds this object, on any thread.
 *
 * <p>
 * Implementations are safe for use by many threads.
 *
 * @since 0.2.0
 */
public interface LockLease {

	/**
	 * The stored id of the lock, prefix included.
	 * @return the key of the request
	 */
	String key();

	/**
	 * The identity of this acquisition for the store.
	 * @return the owner of the request that the store has granted: of that of the first
	 * holder, if a lock is handed over in this process
	 */
	String owner();

	/**
	 * A number that rises strictly with each grant of this key by the store.
	 * @return the epoch, or {@code 0} while the lock is pending
	 */
	long epoch();

	/**
	 * A number that rises with each local holder of one remote lease, from 0 to 255.
	 * @return the turn
	 */
	default int turn() {
		return 0;
	}

	/**
	 * The fencing token: it rises strictly with each holder of this key, whether the
	 * store granted the lock or a local holder handed it over.
	 * @return epoch and turn as one number
	 */
	default long token() {
		return (epoch() << 8) + turn();
	}

	/**
	 * The time for which this process can still prove that it holds the lock, by its own
	 * monotonic clock and counted from before the last successful request.
	 * @return the time, not negative, or {@code null} if the lock does not run out
	 */
	@Nullable Duration remaining();

	/**
	 * Whether the lock is still to be taken, by the first statement of the transaction
	 * that the body of the call consists of. Default: no, it is held since it was
	 * granted.
	 * @return {@code false} once it has been taken, or given up
	 */
	default boolean isPending() {
		return false;
	}

	/**
	 * Whether this process can still prove that it holds the lock. Does no I/O.
	 * @return {@code false} once the lease has run out, was reported lost or was released
	 */
	boolean isValid();

	/**
	 * Whether this process knows that the lock is over for good, so that it need not be
	 * kept for a transaction that may still be committed. Does no I/O. Default: as soon
	 * as it is not valid.
	 * @return {@code false} also while the lock cannot be proven but may still be held
	 */
	default boolean hasEnded() {
		return !isValid();
	}

	/**
	 * Asks the store whether this is still the holder and, if so, extends the lease.
	 * @param leaseTime the new time, counted from now
	 * @return {@code false} if the lock is no longer ours
	 * @throws LockBackendException if the store did not answer, so that nothing is known
	 */
	boolean renew(Duration leaseTime);

	/**
	 * Asks as {@link #renew} does. One that is under way may be the answer. A backend
	 * whose client can do so does not wait for the answer, so that a store that hangs
	 * takes no thread. Default: waits.
	 * @param leaseTime the new time, counted from now
	 * @return completes in bounded time with what {@code renew} returns, or as it fails
	 */
	default CompletionStage<Boolean> startRenewal(Duration leaseTime) {
		return CompletableFuture.completedStage(renew(leaseTime));
	}

	/**
	 * Gives the lock up after work whose outcome is known, if that takes no I/O: to the
	 * next thread of this process that waits, if there is one and a local queue allows
	 * it. The lease is over then. Default: never.
	 * @return {@code false} if that was not possible, so that the lock has to be released
	 */
	default boolean handOver() {
		return false;
	}

	/**
	 * Gives the lock back to the store. Never touches the lock of a successor. A backend
	 * that can goes on trying by itself when the store did not answer, until the lock has
	 * run out.
	 * @return completes with {@code false} if the lock was already lost or released, or
	 * exceptionally with {@link LockBackendException} if the store did not answer to the
	 * first attempt
	 */
	CompletionStage<Boolean> release();

}
