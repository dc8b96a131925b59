package io.github.holdfast.handover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.KeyedPermits;

/**
 * Puts a local queue for each key in front of a store, so that at most one thread of this
 * JVM talks to the store about a key. Threads are served in the order of their arrival;
 * the next one goes to the store as soon as the store has answered the release, or when
 * the lease of a holder that does not end has run out.
 *
 * <p>
 * Shared requests pass by the queue, and so do fair ones, which the store puts in order
 * with those of other JVMs.
 *
 * @since 0.1.0
 */
public final class HandoverLockBackend implements LockBackend {

	private final LockBackend store;

	private final KeyedPermits queue = new KeyedPermits();

	/**
	 * Create a queue in front of a store.
	 * @param store the store
	 */
	public HandoverLockBackend(LockBackend store) {
		this.store = store;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		if (request.mode() == LockRequest.Mode.SHARED || request.fair()) {
			return this.store.acquire(request);
		}
		Deadline deadline = Deadline.after(request.waitTime());
		KeyedPermits.Permit turn = this.queue.acquire(request.key(), request.waitTime());
		if (turn == null) {
			return null;
		}
		LockLease lease = null;
		try {
			lease = this.store.acquire(request.withWaitTime(deadline.remaining()));
			if (lease == null) {
				return null;
			}
			turn.expireAfter(lease::remaining);
			return new QueuedLease(lease, turn);
		}
		finally {
			if (lease == null) {
				turn.release();
			}
		}
	}

	/**
	 * Not while another local thread has or wants one of the keys: they are then queued
	 * for one by one.
	 */
	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		List<KeyedPermits.Permit> turns = turns(sorted);
		List<LockLease> leases = null;
		try {
			leases = (turns.size() == sorted.size()) ? this.store.acquireAll(sorted) : null;
			return (leases != null) ? queued(leases, turns) : null;
		}
		finally {
			if (leases == null) {
				turns.forEach(KeyedPermits.Permit::release);
			}
		}
	}

	private List<KeyedPermits.Permit> turns(List<LockRequest> requests) {
		List<KeyedPermits.Permit> turns = new ArrayList<>(requests.size());
		try {
			for (LockRequest request : requests) {
				KeyedPermits.Permit turn = this.queue.acquire(request.key(), Duration.ZERO);
				if (turn == null) {
					break;
				}
				turns.add(turn);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return turns;
	}

	private static List<LockLease> queued(List<LockLease> leases, List<KeyedPermits.Permit> turns) {
		List<LockLease> queued = new ArrayList<>(leases.size());
		for (int i = 0; i < leases.size(); i++) {
			turns.get(i).expireAfter(leases.get(i)::remaining);
			queued.add(new QueuedLease(leases.get(i), turns.get(i)));
		}
		return queued;
	}

	@Override
	public @Nullable String holder(String key) {
		return this.store.holder(key);
	}

	@Override
	public Set<Capability> capabilities() {
		return this.store.capabilities();
	}

	@Override
	public String toString() {
		return this.store.toString();
	}

	/**
	 * A lease of the store; the key stays in the queue until the store has answered its
	 * release.
	 */
	private record QueuedLease(LockLease lease, KeyedPermits.Permit permit) implements LockLease {

		@Override
		public String key() {
			return this.lease.key();
		}

		@Override
		public String owner() {
			return this.lease.owner();
		}

		@Override
		public long epoch() {
			return this.lease.epoch();
		}

		@Override
		public @Nullable Duration remaining() {
			return this.lease.remaining();
		}

		@Override
		public boolean isValid() {
			return this.lease.isValid();
		}

		@Override
		public boolean renew(Duration leaseTime) {
			Duration before = this.lease.remaining();
			boolean renewed = false;
			try {
				renewed = this.lease.renew(leaseTime);
				return renewed;
			}
			finally {
				if (before != null && (!renewed || leaseTime.compareTo(before) < 0)) {
					this.permit.expiresEarlier();
				}
			}
		}

		@Override
		public CompletionStage<Boolean> release() {
			this.permit.expireNever();
			try {
				return this.lease.release().whenComplete((released, failure) -> this.permit.release());
			}
			catch (RuntimeException | Error ex) {
				this.permit.release();
				throw ex;
			}
		}

	}

}
