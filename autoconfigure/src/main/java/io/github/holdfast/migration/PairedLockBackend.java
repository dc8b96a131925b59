package io.github.holdfast.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.support.Deadline;

/**
 * Takes each lock in two places, one after the other, in an order that is the same on all
 * nodes: so it keeps out those that take it in either of them only, and cannot wait for
 * one that waits for it. A lock that is lost in one place is lost.
 *
 * <p>
 * Belongs below the local queue, so that both are handed over together. Optimistic locks
 * and those of sessions are not offered, and transactions claim none. Safe for use by
 * many threads.
 *
 * @since 0.2.0
 */
public final class PairedLockBackend implements LockBackend {

	private final LockPlace own;

	private final Supplier<List<LockPlace>> places;

	private final Map<String, PairedLease> leases = new ConcurrentHashMap<>();

	/**
	 * Create a backend.
	 * @param own the place whose keys are asked for, and whose epochs count
	 * @param also supplies the other place, at the first use
	 */
	public PairedLockBackend(LockPlace own, Supplier<LockPlace> also) {
		this.own = own;
		this.places = SingletonSupplier.of(() -> Stream.of(own, also.get()).sorted().toList());
	}

	/**
	 * The check of commits in both places, which must have fences.
	 * @return the fence
	 */
	public Fence fence() {
		return new PairedFence(this.own, this.leases::get);
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		Deadline deadline = Deadline.after(request.waitTime());
		List<PairedLease.Part> parts = new ArrayList<>(2);
		boolean complete = false;
		try {
			complete = acquire(request, parts, deadline);
		}
		catch (InterruptedException | RuntimeException | Error ex) {
			giveBack(parts, ex);
			throw ex;
		}
		if (!complete) {
			giveBack(parts, null);
			return null;
		}
		PairedLease lease = new PairedLease(request, parts, this.own, () -> this.leases.remove(request.owner()));
		this.leases.put(request.owner(), lease);
		return lease;
	}

	private boolean acquire(LockRequest request, List<PairedLease.Part> parts, Deadline deadline)
			throws InterruptedException {
		for (LockPlace place : places(request.key())) {
			LockLease lease = acquire(place, request, parts, deadline);
			if (lease == null) {
				return false;
			}
			parts.add(new PairedLease.Part(place, lease));
		}
		return true;
	}

	/**
	 * A key without the prefix that is changed is the same one in both places. If these
	 * are of one store, it is taken once.
	 */
	private List<LockPlace> places(String key) {
		List<LockPlace> places = this.places.get();
		boolean once = places.get(0).store() == places.get(1).store() && !key.startsWith(this.own.keyPrefix());
		return once ? List.of(this.own) : places;
	}

	/**
	 * What was taken before is kept meanwhile.
	 */
	private @Nullable LockLease acquire(LockPlace place, LockRequest request, List<PairedLease.Part> taken,
			Deadline deadline) throws InterruptedException {
		Duration third = request.leaseTime().dividedBy(3);
		boolean keeping = taken.stream().anyMatch((part) -> part.lease().remaining() != null);
		while (keeping && deadline.remaining().compareTo(third) > 0) {
			LockLease lease = place.store().acquire(request(place, request, third));
			if (lease != null) {
				return lease;
			}
			for (PairedLease.Part part : taken) {
				if (!part.lease().renew(request.leaseTime())) {
					throw new LockBackendException(request.key(), "was lost in '" + part.place().name()
							+ "' while it was waited for in '" + place.name() + "'", null);
				}
			}
		}
		return place.store().acquire(request(place, request, deadline.remaining()));
	}

	/**
	 * The holder has to be in the row of each fence before its transaction begins.
	 */
	private LockRequest request(LockPlace place, LockRequest request, Duration waitTime) {
		return new LockRequest(place.keyOf(this.own, request.key()), request.name(), request.mode(), request.fair(),
				waitTime, request.leaseTime(), request.owner(), request.holder(), request.minEpoch());
	}

	/**
	 * Wait until the stores have answered, so that nothing of this call is left.
	 */
	private static void giveBack(List<PairedLease.Part> parts, @Nullable Throwable cause) {
		boolean interrupted = Thread.interrupted();
		try {
			PairedLease.release(parts).toCompletableFuture().join();
		}
		catch (RuntimeException ex) {
			RuntimeException failure = (ex.getCause() instanceof LockBackendException store) ? store : ex;
			if (cause == null) {
				throw failure;
			}
			cause.addSuppressed(failure);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		for (LockPlace place : places(key)) {
			LockHolder holder = place.store().holder(place.keyOf(this.own, key));
			if (holder != null) {
				return holder;
			}
		}
		return null;
	}

	/**
	 * In both places, of which each has an epoch of its own.
	 */
	@Override
	public Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		Eviction eviction = Eviction.NOT_HELD;
		for (LockPlace place : places(key)) {
			String there = place.keyOf(this.own, key);
			LockHolder holder = place.store().holder(there);
			Long told = (holder != null && owner.equals(holder.owner())) ? holder.epoch() : null;
			Eviction evicted = place.store().evict(there, owner, (told != null) ? told : epoch);
			if (evicted == Eviction.IN_TRANSACTION) {
				return evicted;
			}
			eviction = (evicted == Eviction.EVICTED) ? evicted : eviction;
		}
		return eviction;
	}

	/**
	 * Both have to answer, as each lock needs both.
	 */
	@Override
	public @Nullable Status probe(String key) {
		Status own = null;
		for (LockPlace place : this.places.get()) {
			Status status = place.store().probe(place.keyOf(this.own, key));
			own = (own == null || place == this.own) ? status : own;
		}
		return own;
	}

	@Override
	public Duration noticeTime() {
		Duration first = this.places.get().get(0).store().noticeTime();
		Duration second = this.places.get().get(1).store().noticeTime();
		return (first.compareTo(second) > 0) ? first : second;
	}

	@Override
	public String name() {
		return this.own.store().name();
	}

	@Override
	public Set<Capability> capabilities() {
		Set<Capability> both = EnumSet.of(Capability.SHARED, Capability.FAIR, Capability.RELEASE_NOT_AWAITED);
		this.places.get().forEach((place) -> both.retainAll(place.store().capabilities()));
		return both;
	}

	@Override
	public String toString() {
		return this.own.store() + " during 'holdfast.migration'";
	}

}
