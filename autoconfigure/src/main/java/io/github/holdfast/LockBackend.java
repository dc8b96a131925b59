package io.github.holdfast;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * A store that grants locks: the interface that each backend implements.
 *
 * <p>
 * A backend reports facts and leaves all policy to {@link LockTemplate}: it returns a
 * lease, {@code null} for "another holder kept the lock", or throws
 * {@link LockBackendException} for "the store did not answer". A failure of the store is
 * never reported as {@code null}. After a time-out, an interrupt or a failure nothing may
 * remain in the store that could win the lock later.
 *
 * <p>
 * Implementations are safe for use by many threads.
 *
 * @since 0.2.0
 */
public interface LockBackend {

	/**
	 * Acquires one lock.
	 * @param request the key, the owner, and how long to wait: at most
	 * {@link LockRequest#waitTime()}, where zero means exactly one attempt
	 * @return the lease, or {@code null} if another holder kept the lock for the whole
	 * wait
	 * @throws InterruptedException if the thread was interrupted while it waited; nothing
	 * is held then
	 * @throws java.util.concurrent.RejectedExecutionException if too many threads of this
	 * JVM wait already
	 * @throws LockBackendException if the store is unreachable or failed
	 */
	@Nullable LockLease acquire(LockRequest request) throws InterruptedException;

	/**
	 * Acquires several locks in one round trip, all or none, with one attempt and without
	 * waiting. Default: not supported.
	 * @param sorted one request for each key, sorted by key
	 * @return one lease for each request in the same order, or {@code null} if the
	 * backend cannot do this or not all keys were free; the caller then goes on key by
	 * key
	 */
	default @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		return null;
	}

	/**
	 * Tells who holds a lock, for people. Default: unknown.
	 * @param key the stored id of the lock
	 * @return the holder, or {@code null} if there is none or the store does not tell
	 * @throws LockBackendException if the store is unreachable or failed
	 */
	default @Nullable LockHolder holder(String key) {
		return null;
	}

	/**
	 * Takes a lock away from one holder for good, however long it would go on renewing
	 * its lease: for an operator who knows that it hangs. If the holder is fenced, it
	 * cannot commit any more. Never touches a successor. Default: not supported.
	 * @param key the stored id of the lock
	 * @param owner the owner of the holder
	 * @param epoch the epoch of the holder
	 * @return what became of it
	 * @throws LockBackendException if the store is unreachable or failed; trying again
	 * does no harm
	 * @throws UnsupportedOperationException if the lock cannot be taken away, with a
	 * message that says what can be done instead
	 * @throws InterruptedException if the thread was interrupted
	 */
	default Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		throw new UnsupportedOperationException(
				"The " + this + " cannot take locks away from their holders: end the process that holds it");
	}

	/**
	 * Asks the store whether it answers, and waits for that for some seconds at most.
	 * Takes no lock. A store that keeps its locks in several places answers if one of
	 * them does. Default: not supported.
	 * @param key the stored id of a lock, which is left alone
	 * @return what the store tells, or {@code null} if nothing is known, as it cannot be
	 * asked, or this process has no connection left to ask by
	 * @throws LockBackendException if the store is unreachable or did not answer
	 */
	default @Nullable Status probe(String key) {
		return null;
	}

	/**
	 * Whether a lease that was granted to another thread of this JVM can be handed over
	 * to one with this request as it is. Does no I/O. Default: yes.
	 * @param lease the lease, granted by this backend
	 * @param request what is asked for, for the same key
	 * @return {@code false} if the lease has to be released and acquired anew
	 */
	default boolean serves(LockLease lease, LockRequest request) {
		return true;
	}

	/**
	 * How long a waiter of another JVM may take to notice that a lock was released.
	 * Default: zero, for a store that keeps its waiters in a queue.
	 * @return the time, not negative
	 */
	default Duration noticeTime() {
		return Duration.ZERO;
	}

	/**
	 * The name of the store for meters and logs, one of few. Default: that of the class.
	 * @return the name
	 */
	default String name() {
		return getClass().getSimpleName();
	}

	/**
	 * What this backend can do beyond exclusive locks. Default: nothing.
	 * @return the capabilities
	 */
	default Set<Capability> capabilities() {
		return Set.of();
	}

	/**
	 * What a backend can do, beyond an exclusive lock with a lease.
	 */
	enum Capability {

		/** Shared (read) locks. */
		SHARED,

		/** Waiters on all nodes are served in the order of their arrival. */
		FAIR,

		/**
		 * A lease that holds nothing; the commit guard compares its version at the
		 * commit.
		 */
		OPTIMISTIC,

		/** The store is this JVM, so that no local queue is needed in front of it. */
		IN_PROCESS,

		/** A release after a guarded commit need not be waited for. */
		RELEASE_NOT_AWAITED

	}

	/**
	 * What became of a lock that was to be taken away.
	 */
	enum Eviction {

		/** The holder has lost it, and learns that by its next renewal or check. */
		EVICTED,

		/** It is free, or another one holds it. Nothing was changed. */
		NOT_HELD,

		/**
		 * The holder has it, and a transaction in the database that keeps the row of the
		 * lock locked, and so all others out. Nothing was changed.
		 */
		IN_TRANSACTION

	}

	/**
	 * What a store tells about itself.
	 *
	 * @param topology how it is made up, for people
	 * @param time its clock, or {@code null} if it does not tell
	 */
	record Status(String topology, @Nullable Instant time) {

	}

}
