package io.github.holdfast.fence;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * A store that has lost its mind: grants every lock to everybody, with the epochs that it
 * is told, and cannot raise them.
 */
public class GrantingBackend implements LockBackend {

	private final LongSupplier epochs;

	private final List<LockLease> held = new CopyOnWriteArrayList<>();

	public GrantingBackend(LongSupplier epochs) {
		this.epochs = epochs;
	}

	public List<LockLease> held() {
		return this.held;
	}

	@Override
	public LockLease acquire(LockRequest request) {
		LockLease lease = new Lease(request.key(), request.owner(), this.epochs.getAsLong(), this.held);
		this.held.add(lease);
		return lease;
	}

	@Override
	public List<LockLease> acquireAll(List<LockRequest> sorted) {
		List<LockLease> leases = new ArrayList<>();
		sorted.forEach((request) -> leases.add(acquire(request)));
		return leases;
	}

	private record Lease(String key, String owner, long epoch, List<LockLease> held) implements LockLease {

		@Override
		public Duration remaining() {
			return Duration.ofHours(1);
		}

		@Override
		public boolean isValid() {
			return isHeld();
		}

		@Override
		public boolean renew(Duration leaseTime) {
			return isHeld();
		}

		@Override
		public CompletionStage<Boolean> release() {
			return CompletableFuture.completedStage(this.held.removeIf((lease) -> lease == this));
		}

		private boolean isHeld() {
			return this.held.stream().anyMatch((lease) -> lease == this);
		}

	}

}
