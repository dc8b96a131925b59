package io.github.holdfast.migration;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * One lock in two places. It is held as long as both are.
 */
final class PairedLease implements LockLease {

	private final LockRequest request;

	private final List<Part> parts;

	private final LockLease own;

	private final Runnable whenReleased;

	private final AtomicBoolean released = new AtomicBoolean();

	/**
	 * Create a lease.
	 * @param request what was asked for
	 * @param parts what was granted, in the order of the acquisition
	 * @param own the place whose epoch counts
	 * @param whenReleased is run before the release
	 */
	PairedLease(LockRequest request, List<Part> parts, LockPlace own, Runnable whenReleased) {
		this.request = request;
		this.parts = List.copyOf(parts);
		this.own = parts.stream()
			.filter((part) -> part.place == own)
			.map(Part::lease)
			.findFirst()
			.orElse(parts.get(0).lease);
		this.whenReleased = whenReleased;
	}

	List<Part> parts() {
		return this.parts;
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
		return this.own.epoch();
	}

	/**
	 * Until the first part runs out. That of a session has no end.
	 */
	@Override
	public @Nullable Duration remaining() {
		return this.parts.stream()
			.map((part) -> part.lease.remaining())
			.filter(Objects::nonNull)
			.min(Duration::compareTo)
			.orElse(null);
	}

	@Override
	public boolean isValid() {
		return this.parts.stream().allMatch((part) -> part.lease.isValid());
	}

	@Override
	public boolean hasEnded() {
		return this.parts.stream().anyMatch((part) -> part.lease.hasEnded());
	}

	/**
	 * All parts are renewed, also if the first one fails.
	 */
	@Override
	public boolean renew(Duration leaseTime) {
		boolean renewed = true;
		RuntimeException failure = null;
		for (Part part : this.parts) {
			try {
				renewed &= part.lease.renew(leaseTime);
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
		}
		if (renewed && failure != null) {
			throw failure;
		}
		return renewed;
	}

	@Override
	public CompletionStage<Boolean> release() {
		if (this.released.getAndSet(true)) {
			return CompletableFuture.completedStage(false);
		}
		this.whenReleased.run();
		return release(this.parts);
	}

	/**
	 * Release what was taken last first, and all of it even if one release fails.
	 */
	static CompletionStage<Boolean> release(List<Part> parts) {
		CompletionStage<Boolean> all = CompletableFuture.completedStage(true);
		for (int i = parts.size() - 1; i >= 0; i--) {
			LockLease lease = parts.get(i).lease;
			CompletionStage<Boolean> later = all;
			all = later.handle((released, failure) -> failure)
				.thenCompose((failure) -> release(lease))
				.thenCombine(later, Boolean::logicalAnd);
		}
		return all;
	}

	private static CompletionStage<Boolean> release(LockLease lease) {
		try {
			return lease.release();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * The lock in one place.
	 *
	 * @param place the place
	 * @param lease what it has granted
	 */
	record Part(LockPlace place, LockLease lease) {
	}

}
