package io.github.holdfast.store;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * Puts a local queue for each key in front of a store, so that at most one thread of this
 * JVM talks to the store about a key, and passes a lease of the store on among the
 * threads that wait in the queue, in the order of their arrival. A thread that comes just
 * when the lease is on its way to another one, which still has to wake up, may have its
 * turn first.
 *
 * <p>
 * A lease is handed over only after work whose outcome is known, while it is provably
 * valid, and as long as the {@link HandoverLimits} allow. Then it is given back to the
 * store. On a store that does not queue its waiters, the JVM that has just released a
 * lock would win the race for it again, so its next thread stays away for some time
 * first: an eighth of the time that the JVM had the lock, at least half a millisecond,
 * and no longer than the store's waiters need to notice.
 *
 * <p>
 * A lock that a transaction takes by its first statement is not handed over. Where the
 * database frees it before the commit is durable, the next thread follows as soon as the
 * one before has it, so that the end of one transaction overlaps with the beginning of
 * the next. Elsewhere it follows at the end, or after the lease time.
 *
 * <p>
 * A single attempt waits for a release of this JVM that is still on its way, and for
 * nothing else. A thread that waits in vain behind one for which the store has failed
 * gets a {@link LockBackendException}. Shared requests bypass the queue, and so do fair
 * ones, which the store puts in order with those of other JVMs.
 *
 * @since 0.2.0
 */
public final class HandoverLockBackend extends DelegatingLockBackend {

	private final HandoverLimits limits;

	private final QueueLimits queueLimits;

	private final KeyedPermits<Cohort> queue = new KeyedPermits<>();

	/**
	 * Create a queue with the default limits in front of a store.
	 * @param store the store
	 */
	public HandoverLockBackend(LockBackend store) {
		this(store, HandoverLimits.DEFAULT, QueueLimits.DEFAULT);
	}

	/**
	 * Create a queue in front of a store.
	 * @param store the store
	 * @param limits how long a lease is handed over among the threads of this JVM
	 * @param queueLimits how many threads may wait
	 */
	public HandoverLockBackend(LockBackend store, HandoverLimits limits, QueueLimits queueLimits) {
		super(store);
		this.limits = limits;
		this.queueLimits = queueLimits;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		if (request.mode() == LockRequest.Mode.SHARED || request.fair()) {
			return this.store.acquire(request);
		}
		Deadline deadline = Deadline.after(request.waitTime());
		KeyedPermits<Cohort>.Permit permit = this.queue.acquire(request.key(), request.waitTime(), false,
				this.queueLimits);
		if (permit == null) {
			checkStore(request.key());
			return null;
		}
		LockLease lease = null;
		try {
			lease = acquire(request, permit, deadline);
			return lease;
		}
		finally {
			if (lease == null) {
				permit.release();
			}
		}
	}

	private @Nullable LockLease acquire(LockRequest request, KeyedPermits<Cohort>.Permit permit, Deadline deadline)
			throws InterruptedException {
		Cohort earlier = permit.brought();
		if (earlier != null) {
			if (Thread.interrupted()) {
				earlier.decline(permit);
				throw new InterruptedException();
			}
			LockLease passed = earlier.next(permit, request, this.store);
			if (passed != null) {
				return passed;
			}
			earlier.rest(deadline);
		}
		LockLease lease = askStore(request.withWaitTime(deadline.remaining()), permit);
		if (lease instanceof TransactionLease pending) {
			permit.expireAfter(Deadline.after(request.leaseTime())::remaining);
			pending.whenNextMayAsk(permit::release);
			return lease;
		}
		return (lease != null) ? cohort(lease, earlier).first(permit, request) : null;
	}

	private @Nullable LockLease askStore(LockRequest request, KeyedPermits<Cohort>.Permit permit)
			throws InterruptedException {
		try {
			LockLease lease = this.store.acquire(request);
			permit.failed(null);
			return lease;
		}
		catch (LockBackendException ex) {
			permit.failed(ex);
			throw ex;
		}
	}

	/**
	 * Nobody knows whether the lock is busy if the store has failed, and has not answered
	 * to this JVM since.
	 */
	private void checkStore(String key) {
		RuntimeException failure = this.queue.failure(key);
		if (failure != null) {
			throw new LockBackendException(key,
					"could not be acquired, as the store has failed for another thread that asked for it", failure);
		}
	}

	private Cohort cohort(LockLease lease, @Nullable Cohort earlier) {
		return new Cohort(lease, this.limits, this.store.noticeTime(), earlier);
	}

	/**
	 * Not while another local thread has or wants one of the keys: they are then queued
	 * for one by one.
	 */
	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		List<KeyedPermits<Cohort>.Permit> permits = Thread.currentThread().isInterrupted() ? List.of()
				: permits(sorted);
		List<LockLease> leases = null;
		try {
			leases = (permits.size() == sorted.size()) ? this.store.acquireAll(sorted) : null;
			return (leases != null) ? queued(leases, permits, sorted) : null;
		}
		finally {
			if (leases == null) {
				permits.forEach(KeyedPermits<Cohort>.Permit::release);
			}
		}
	}

	private List<KeyedPermits<Cohort>.Permit> permits(List<LockRequest> requests) {
		List<KeyedPermits<Cohort>.Permit> permits = new ArrayList<>(requests.size());
		for (LockRequest request : requests) {
			KeyedPermits<Cohort>.Permit permit = this.queue.tryAcquire(request.key());
			if (permit == null) {
				break;
			}
			permits.add(permit);
		}
		return permits;
	}

	private List<LockLease> queued(List<LockLease> leases, List<KeyedPermits<Cohort>.Permit> permits,
			List<LockRequest> requests) {
		List<LockLease> queued = new ArrayList<>(leases.size());
		for (int i = 0; i < leases.size(); i++) {
			queued.add(cohort(leases.get(i), null).first(permits.get(i), requests.get(i)));
		}
		return queued;
	}

}
