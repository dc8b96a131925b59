package io.github.holdfast.store.local;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.KeyedPermits;
import io.github.holdfast.store.QueueLimits;

/**
 * Locks between the threads of this JVM, and of nothing else: for development, tests and
 * applications that run on one node. Waiters are served in the order of their arrival,
 * and others may barge in a few times while they wake up, unless their requests are fair.
 * Leases do not run out; all instances in a JVM share their locks.
 *
 * @since 0.2.0
 */
public final class LocalLockBackend implements LockBackend {

	private static final Set<Capability> CAPABILITIES = Set.of(Capability.FAIR, Capability.IN_PROCESS);

	private static final CompletionStage<Boolean> RELEASED = CompletableFuture.completedStage(true);

	private static final CompletionStage<Boolean> NOT_HELD = CompletableFuture.completedStage(false);

	private static final KeyedPermits<Void> permits = new KeyedPermits<>();

	/**
	 * Starts at the wall clock, so that tokens rise over restarts as well.
	 */
	private static final AtomicLong epochs = new AtomicLong(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));

	private final QueueLimits queueLimits;

	/**
	 * Create a backend with the default limits of its queue.
	 */
	public LocalLockBackend() {
		this(QueueLimits.DEFAULT);
	}

	/**
	 * Create a backend.
	 * @param queueLimits how many threads may wait
	 */
	public LocalLockBackend(QueueLimits queueLimits) {
		this.queueLimits = queueLimits;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		KeyedPermits<Void>.Permit permit = permits.acquire(request.key(), request.waitTime(), request.fair(),
				this.queueLimits);
		if (permit == null) {
			return null;
		}
		if (Thread.interrupted()) {
			permit.release();
			throw new InterruptedException();
		}
		permit.expireNever();
		long epoch = epochs.updateAndGet((last) -> Math.max(last + 1, request.minEpoch()));
		return new Lease(request.key(), request.identity(), epoch, permit);
	}

	/**
	 * Nothing would keep a thread that goes on from working beside its successor.
	 */
	@Override
	public Eviction evict(String key, String owner, long epoch) {
		throw new UnsupportedOperationException("The lock belongs to a thread of this process: end the process");
	}

	@Override
	public Status probe(String key) {
		return new Status("the memory of this JVM", null);
	}

	@Override
	public Set<Capability> capabilities() {
		return CAPABILITIES;
	}

	@Override
	public String name() {
		return "local";
	}

	@Override
	public String toString() {
		return "backend 'local'";
	}

	private record Lease(String key, LockRequest.Identity identity, long epoch,
			KeyedPermits<Void>.Permit permit) implements LockLease {

		@Override
		public String owner() {
			return this.identity.owner();
		}

		@Override
		public @Nullable Duration remaining() {
			return null;
		}

		@Override
		public boolean isValid() {
			return this.permit.isHeld();
		}

		@Override
		public boolean renew(Duration leaseTime) {
			return this.permit.isHeld();
		}

		@Override
		public boolean handOver() {
			return this.permit.handOver(() -> null);
		}

		@Override
		public CompletionStage<Boolean> release() {
			return this.permit.release() ? RELEASED : NOT_HELD;
		}

	}

}
