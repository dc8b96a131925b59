package io.github.holdfast.contract;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling;

/** A custom backend on a {@link MapStore}: it polls until the lock is free. */
record MapLockBackend(MapStore store) implements LockBackend {

	private static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		return POLLING.until(request.waitTime(), (deadline) -> take(request));
	}

	private @Nullable Lease take(LockRequest request) {
		long sentAt = System.nanoTime();
		Long epoch = this.store.take(request.key(), request.owner().id(), request.leaseTime());
		return (epoch != null) ? new MapLease(this.store, request, epoch, sentAt) : null;
	}

	private record MapLease(MapStore store, LockRequest request, long epoch, long sentAt) implements Lease {

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return CompletableFuture
				.completedStage(this.store.extend(this.request.key(), this.request.owner().id(), leaseTime));
		}

		@Override
		public CompletionStage<Boolean> release() {
			return CompletableFuture.completedStage(this.store.remove(this.request.key(), this.request.owner().id()));
		}

	}

}
