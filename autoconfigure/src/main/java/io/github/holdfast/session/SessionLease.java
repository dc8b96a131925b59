package io.github.holdfast.session;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * A lock of a database session.
 */
final class SessionLease implements LockLease {

	private final LockRequest request;

	private final Session session;

	private final String id;

	private final long epoch;

	private final AtomicBoolean released = new AtomicBoolean();

	SessionLease(LockRequest request, Session session, String id, long epoch) {
		this.request = request;
		this.session = session;
		this.id = id;
		this.epoch = epoch;
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
		return null;
	}

	@Override
	public boolean isValid() {
		return !this.released.get() && !this.session.hasEnded();
	}

	@Override
	public boolean renew(Duration leaseTime) {
		return isValid() && this.session.isAlive() && isValid();
	}

	/**
	 * Whoever has the connection may still have a transaction on it.
	 */
	@Override
	public boolean canBePassedOn() {
		return this.session.isFree();
	}

	@Override
	public CompletionStage<Boolean> release() {
		return CompletableFuture
			.completedStage(this.released.compareAndSet(false, true) && this.session.release(owner(), this.id));
	}

}
