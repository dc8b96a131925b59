package io.github.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.Deadline;

/**
 * A backend that grants what it is told to grant, and remembers what it was asked.
 */
public final class FakeLockBackend implements LockBackend {

	/** What was acquired and released, in order. */
	public final List<String> calls = new CopyOnWriteArrayList<>();

	public final List<LockRequest> requests = new CopyOnWriteArrayList<>();

	public final List<FakeLease> leases = new CopyOnWriteArrayList<>();

	public final AtomicInteger renewals = new AtomicInteger();

	public volatile Grant grant = (request) -> true;

	public volatile Answer renewal = (lease) -> true;

	public volatile Answer release = (lease) -> true;

	/** Whether leases are handed over instead of released. */
	public volatile Answer handOver = (lease) -> false;

	/** The answer to each release, if it does not come at once. */
	public volatile @Nullable CompletionStage<Boolean> answer;

	/** The answer to each renewal, if it does not come at once. */
	public volatile @Nullable CompletionStage<Boolean> renewalAnswer;

	public volatile Set<Capability> capabilities = Set.of();

	public volatile boolean expiring = true;

	/** How much of its lease a grant has used when it arrives. */
	public volatile Duration used = Duration.ZERO;

	volatile @Nullable String holder;

	/** Whether the store does not answer who holds a lock. */
	volatile boolean lookUpFails;

	/** What leases say of their rest, if not the truth. */
	public volatile @Nullable Supplier<Duration> remaining;

	private final AtomicLong epochs = new AtomicLong(100);

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		this.requests.add(request);
		if (!this.grant.test(request)) {
			return null;
		}
		FakeLease lease = new FakeLease(request, this.epochs.incrementAndGet());
		this.leases.add(lease);
		this.calls.add("acquire " + request.key());
		return lease;
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		if (this.lookUpFails) {
			throw new LockBackendException(key, "could not be looked up", null);
		}
		return (this.holder != null) ? LockHolder.described(this.holder) : null;
	}

	@Override
	public Set<Capability> capabilities() {
		return this.capabilities;
	}

	/**
	 * The stored ids of the locks that are held now.
	 */
	public List<String> held() {
		return this.leases.stream().filter((lease) -> !lease.released.get()).map(FakeLease::key).toList();
	}

	@Override
	public String toString() {
		return "backend 'fake'";
	}

	@FunctionalInterface
	public interface Grant {

		boolean test(LockRequest request) throws InterruptedException;

	}

	@FunctionalInterface
	public interface Answer {

		boolean of(FakeLease lease);

	}

	public final class FakeLease implements LockLease {

		final AtomicBoolean released = new AtomicBoolean();

		private final LockRequest request;

		private final long epoch;

		private volatile Deadline deadline;

		private FakeLease(LockRequest request, long epoch) {
			this.request = request;
			this.epoch = epoch;
			this.deadline = Deadline.after(request.leaseTime().minus(FakeLockBackend.this.used));
		}

		@Override
		public String key() {
			return this.request.key();
		}

		@Override
		public String owner() {
			return this.request.owner();
		}

		@Override
		public long epoch() {
			return this.epoch;
		}

		@Override
		public @Nullable Duration remaining() {
			Supplier<Duration> told = FakeLockBackend.this.remaining;
			if (told != null) {
				return told.get();
			}
			return FakeLockBackend.this.expiring ? this.deadline.remaining() : null;
		}

		@Override
		public boolean isValid() {
			return !this.released.get() && !this.deadline.hasPassed();
		}

		@Override
		public boolean renew(Duration leaseTime) {
			FakeLockBackend.this.renewals.incrementAndGet();
			boolean renewed = FakeLockBackend.this.renewal.of(this);
			this.deadline = Deadline.after(renewed ? leaseTime : Duration.ZERO);
			return renewed;
		}

		@Override
		public CompletionStage<Boolean> startRenewal(Duration leaseTime) {
			CompletionStage<Boolean> late = FakeLockBackend.this.renewalAnswer;
			return (late != null) ? late : CompletableFuture.completedStage(renew(leaseTime));
		}

		@Override
		public boolean handOver() {
			return FakeLockBackend.this.handOver.of(this);
		}

		@Override
		public CompletionStage<Boolean> release() {
			FakeLockBackend.this.calls.add("release " + key());
			this.released.set(true);
			CompletionStage<Boolean> late = FakeLockBackend.this.answer;
			return (late != null) ? late : CompletableFuture.completedStage(FakeLockBackend.this.release.of(this));
		}

	}

}
