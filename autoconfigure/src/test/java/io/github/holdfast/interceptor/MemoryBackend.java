package io.github.holdfast.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Grants locks in memory, one attempt for each request, and records the requests.
 */
class MemoryBackend implements LockBackend {

	final List<LockRequest> requests = new CopyOnWriteArrayList<>();

	private final Set<String> held = ConcurrentHashMap.newKeySet();

	private final AtomicLong epochs = new AtomicLong();

	@Override
	public @Nullable Lease acquire(LockRequest request) {
		this.requests.add(request);
		return this.held.add(request.key()) ? new MemoryLease(request.key(), this.epochs.incrementAndGet()) : null;
	}

	List<String> keys() {
		return this.requests.stream().map((request) -> request.key().substring("holdfast:".length())).toList();
	}

	private final class MemoryLease implements Lease {

		private final String key;

		private final long epoch;

		private final long sentAt = System.nanoTime();

		MemoryLease(String key, long epoch) {
			this.key = key;
			this.epoch = epoch;
		}

		@Override
		public long epoch() {
			return this.epoch;
		}

		@Override
		public long sentAt() {
			return this.sentAt;
		}

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return CompletableFuture.completedFuture(true);
		}

		@Override
		public CompletionStage<Boolean> release() {
			return CompletableFuture.completedFuture(MemoryBackend.this.held.remove(this.key));
		}

	}

}
