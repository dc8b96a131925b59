package io.github.holdfast;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * A store that grants locks. Implement this interface to add a store; the library keeps
 * the time, renews leases, queues the threads of this JVM and hands locks over.
 *
 * <p>
 * Implementations are safe for use by many threads. They report facts and throw a
 * {@link LockBackendException} if the store failed; they never report a failure as busy.
 *
 * @see ManageableLockBackend
 */
public interface LockBackend {

	/**
	 * Acquires a lock.
	 * @param request what to acquire
	 * @return the lease, or {@code null} if another holder kept the lock for the wait
	 * time of the request, where zero means one attempt
	 * @throws InterruptedException if the thread was interrupted; nothing is held then
	 * @throws LockBackendException if the store failed; nothing is held for longer than
	 * the lease time then
	 */
	@Nullable Lease acquire(LockRequest request) throws InterruptedException;

	/**
	 * Finds out who holds a lock, for messages.
	 * @param key the stored key
	 * @return the holder, or {@code null} if there is none or the store does not report
	 * it
	 */
	default @Nullable LockHolder holder(String key) {
		return null;
	}

	/**
	 * The optional features of this store. Default: none.
	 * @return the capabilities
	 */
	default Set<Capability> capabilities() {
		return Set.of();
	}

	/**
	 * The name of this backend in logs and meters. It also begins the keys of its tokens
	 * in the table {@code holdfast_lock}. Default: the simple name of the class.
	 * @return the name, 1 to 40 characters
	 */
	default String name() {
		return getClass().getSimpleName();
	}

	/**
	 * A lock that the store has granted to one acquisition.
	 *
	 * <p>
	 * {@link #renew} and {@link #release} are called from any thread; a release may
	 * overtake a renewal. They may answer later. A stage that fails means that the
	 * outcome is unknown.
	 */
	interface Lease {

		/**
		 * The number of this grant.
		 * @return a number that rises with each grant of the key, at least 1
		 */
		long epoch();

		/**
		 * The moment from which the lease time counts.
		 * @return a value of {@link System#nanoTime()} from before the attempt that won
		 * was sent
		 */
		long sentAt();

		/**
		 * Extends the lease. Not called if it does not {@link #expires() expire}.
		 * @param leaseTime the new lease time, counted from now
		 * @return {@code false} if this acquisition has lost the lock
		 */
		CompletionStage<Boolean> renew(Duration leaseTime);

		/**
		 * Releases the lock. Called until it has answered. Never touches the lock of a
		 * successor.
		 * @return {@code false} if this acquisition had lost the lock
		 */
		CompletionStage<Boolean> release();

		/**
		 * Whether this acquisition may still hold the lock, as far as this process can
		 * see. For stores whose locks end with a session. Does no I/O. Default:
		 * {@code true}.
		 * @return {@code false} if it is lost
		 */
		default boolean isAlive() {
			return true;
		}

		/**
		 * Whether the lock ends with its lease time unless it is renewed. Default:
		 * {@code true}.
		 * @return {@code false} if it needs no renewal
		 */
		default boolean expires() {
			return true;
		}

	}

	/**
	 * An optional feature of a store.
	 */
	enum Capability {

		/** Grants {@linkplain LockMode#SHARED shared} locks. */
		SHARED,

		/** Serves the waiters of all nodes in the order of their arrival. */
		FAIR

	}

}
