package io.github.holdfast.core;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * A store for the schedules of the core. It holds its leases in a map, and fails or
 * answers late if a scene wants it to. Notes what the core must not do.
 */
final class MemoryBackend implements LockBackend {

	private static final Duration LATE = Duration.ofMillis(1);

	private final Map<String, MemoryLease> leases = new HashMap<>();

	private final boolean expires;

	private boolean answersLate;

	private boolean renewalsFail;

	private int releasesToFail;

	private int granted;

	private int givenBack;

	private boolean renewing;

	private boolean claimed;

	private @Nullable String violation;

	MemoryBackend(boolean expires) {
		this.expires = expires;
	}

	MemoryBackend answersLate() {
		this.answersLate = true;
		return this;
	}

	MemoryBackend renewalsFail() {
		this.renewalsFail = true;
		return this;
	}

	MemoryBackend oneReleaseFails() {
		this.releasesToFail = 1;
		return this;
	}

	@Override
	public synchronized @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		long end = System.nanoTime() + request.waitTime().toNanos();
		MemoryLease held = held(request.key());
		while (held != null) {
			long now = System.nanoTime();
			if (end - now <= 0) {
				return null;
			}
			TimeUnit.NANOSECONDS.timedWait(this, Math.min(end, this.expires ? held.end : end) - now);
			held = held(request.key());
		}
		return grant(request.key(), request.leaseTime());
	}

	private MemoryLease grant(String key, Duration leaseTime) {
		MemoryLease lease = new MemoryLease(key, ++this.granted, leaseTime);
		this.leases.put(key, lease);
		return lease;
	}

	/**
	 * A transaction has the row, or has it no longer.
	 */
	synchronized void claim(boolean claimed) {
		check(!this.renewing, "a renewal goes on during a claim");
		this.claimed = claimed;
	}

	private @Nullable MemoryLease held(String key) {
		MemoryLease lease = this.leases.get(key);
		return (lease != null && lease.isHeld()) ? lease : null;
	}

	synchronized boolean isHeld(String key) {
		return held(key) != null;
	}

	synchronized void awaitReleases(int number) throws InterruptedException {
		while (this.givenBack < number) {
			wait();
		}
	}

	synchronized void check(boolean promise, String otherwise) {
		if (!promise && this.violation == null) {
			this.violation = otherwise;
		}
	}

	/**
	 * After all calls, nothing may be left in the store.
	 */
	synchronized void end() {
		check(this.granted == this.givenBack, "a lease was not given back");
		if (this.violation != null) {
			throw new AssertionError(this.violation);
		}
	}

	private CompletionStage<Boolean> answer(BooleanSupplier answer) {
		if (!this.answersLate) {
			return CompletableFuture.completedStage(answer.getAsBoolean());
		}
		CompletableFuture<Boolean> late = new CompletableFuture<>();
		new Thread(() -> {
			Scene.sleep(LATE);
			late.complete(answer.getAsBoolean());
		}).start();
		return late;
	}

	private CompletionStage<Boolean> fail(String key, String message) {
		return CompletableFuture.failedStage(new LockBackendException(key, message, null));
	}

	private final class MemoryLease implements Lease {

		private final String key;

		private final long epoch;

		private final long sentAt = System.nanoTime();

		private long end;

		private boolean over;

		private int late;

		private MemoryLease(String key, long epoch, Duration leaseTime) {
			this.key = key;
			this.epoch = epoch;
			this.end = this.sentAt + leaseTime.toNanos();
		}

		private boolean isHeld() {
			return MemoryBackend.this.leases.get(this.key) == this && (!expires() || System.nanoTime() - this.end < 0);
		}

		@Override
		public boolean expires() {
			return MemoryBackend.this.expires;
		}

		@Override
		public long epoch() {
			return this.epoch;
		}

		@Override
		public long sentAt() {
			return this.sentAt;
		}

		/**
		 * One renewal may have begun before the release.
		 */
		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			synchronized (MemoryBackend.this) {
				this.late += this.over ? 1 : 0;
				check(this.late < 2, "renewed after it was given back");
				check(!MemoryBackend.this.claimed, "renewed during a claim");
				if (MemoryBackend.this.renewalsFail) {
					return fail(this.key, "could not be renewed");
				}
				MemoryBackend.this.renewing = true;
				return answer(() -> extend(leaseTime));
			}
		}

		private boolean extend(Duration leaseTime) {
			synchronized (MemoryBackend.this) {
				MemoryBackend.this.renewing = false;
				boolean held = isHeld();
				this.end = held ? System.nanoTime() + leaseTime.toNanos() : this.end;
				return held;
			}
		}

		@Override
		public CompletionStage<Boolean> release() {
			synchronized (MemoryBackend.this) {
				check(!this.over, "given back twice");
				if (MemoryBackend.this.releasesToFail > 0) {
					MemoryBackend.this.releasesToFail--;
					return fail(this.key, "could not be released");
				}
				this.over = true;
				MemoryBackend.this.givenBack++;
				MemoryBackend.this.notifyAll();
				return answer(this::remove);
			}
		}

		private boolean remove() {
			synchronized (MemoryBackend.this) {
				boolean held = isHeld();
				if (held) {
					MemoryBackend.this.leases.remove(this.key);
				}
				MemoryBackend.this.notifyAll();
				return held;
			}
		}

	}

}
