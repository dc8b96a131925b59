package io.github.holdfast.store.session;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.GrantedLease;

/**
 * A lock of a database session.
 */
final class SessionLease extends GrantedLease {

	private final Session session;

	private final String id;

	private final AtomicBoolean released = new AtomicBoolean();

	SessionLease(LockRequest request, Session session, String id, long epoch) {
		super(request, epoch);
		this.session = session;
		this.id = id;
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
	public boolean canBeHandedOver() {
		return this.session.isFree();
	}

	@Override
	public CompletionStage<Boolean> release() {
		return CompletableFuture
			.completedStage(this.released.compareAndSet(false, true) && this.session.release(owner(), this.id));
	}

}
