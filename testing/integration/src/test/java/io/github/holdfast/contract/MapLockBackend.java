package io.github.holdfast.contract;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * A client of a {@link MapStore}, as somebody else would write it: it asks again and
 * again, and counts its leases from before each request.
 */
final class MapLockBackend implements LockBackend {

	private static final Duration PAUSE = Duration.ofMillis(5);

	private final MapStore store;

	MapLockBackend(MapStore store) {
		this.store = store;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		long begin = System.nanoTime();
		while (true) {
			long asked = System.nanoTime();
			Long epoch = this.store.take(request);
			if (epoch != null) {
				return new Lease(this.store, request, epoch, asked);
			}
			long left = request.waitTime().toNanos() - (System.nanoTime() - begin);
			if (left <= 0) {
				return null;
			}
			Thread.sleep(Math.min(PAUSE.toMillis(), left / 1_000_000 + 1));
		}
	}

	private static final class Lease implements LockLease {

		private final MapStore store;

		private final LockRequest request;

		private final long epoch;

		private volatile long end;

		private volatile boolean over;

		Lease(MapStore store, LockRequest request, long epoch, long asked) {
			this.store = store;
			this.request = request;
			this.epoch = epoch;
			this.end = asked + request.leaseTime().toNanos();
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
		public Duration remaining() {
			return this.over ? Duration.ZERO : Duration.ofNanos(Math.max(0, this.end - System.nanoTime()));
		}

		@Override
		public boolean isValid() {
			return !remaining().isZero();
		}

		@Override
		public boolean renew(Duration leaseTime) {
			long asked = System.nanoTime();
			if (this.store.extend(key(), owner(), leaseTime)) {
				this.end = asked + leaseTime.toNanos();
				return true;
			}
			this.over = true;
			return false;
		}

		@Override
		public CompletionStage<Boolean> release() {
			this.over = true;
			return CompletableFuture.completedStage(this.store.remove(key(), owner()));
		}

	}

}
