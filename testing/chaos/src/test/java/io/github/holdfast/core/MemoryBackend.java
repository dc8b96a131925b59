package io.github.holdfast.core;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * A store that is there for the schedules of the core only. It holds its leases in a map,
 * fails on demand, and notes what it was asked for.
 */
final class MemoryBackend implements LockBackend {

	private final Map<String, MemoryLease> leases = new HashMap<>();

	private final boolean expires;

	private int granted;

	private int givenBack;

	private int renewed;

	private boolean renewalsFail;

	private int releasesToFail;

	private boolean slow;

	private boolean claimed;

	private @Nullable Runnable underWay;

	MemoryBackend(boolean expires) {
		this.expires = expires;
	}

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		synchronized (World.class) {
			long end = World.nanoTime() + request.waitTime().toNanos();
			while (isHeld(request.key())) {
				if (World.interrupted()) {
					throw new InterruptedException();
				}
				if (World.nanoTime() - end >= 0) {
					return null;
				}
				World.sleep();
			}
			return grant(request.key(), request.leaseTime());
		}
	}

	private MemoryLease grant(String key, Duration leaseTime) {
		MemoryLease lease = new MemoryLease(key, ++this.granted, World.nanoTime(), leaseTime.toNanos());
		this.leases.put(key, lease);
		World.class.notifyAll();
		return lease;
	}

	/**
	 * Another node takes a key, whoever has it.
	 */
	void takeAway(String key, Duration leaseTime) {
		synchronized (World.class) {
			grant(key, leaseTime);
		}
	}

	void giveBack(String key) {
		synchronized (World.class) {
			this.leases.remove(key);
			World.class.notifyAll();
		}
	}

	void failRenewals() {
		synchronized (World.class) {
			this.renewalsFail = true;
		}
	}

	void failReleases(int times) {
		synchronized (World.class) {
			this.releasesToFail = times;
		}
	}

	/**
	 * From now on, the store answers when a schedule says so.
	 */
	void answerLate() {
		synchronized (World.class) {
			this.slow = true;
		}
	}

	private CompletionStage<Boolean> answer(boolean answer) {
		if (!this.slow) {
			return CompletableFuture.completedStage(answer);
		}
		CompletableFuture<Boolean> late = new CompletableFuture<>();
		this.underWay = () -> late.complete(answer);
		return late;
	}

	boolean isAsked() {
		synchronized (World.class) {
			return this.underWay != null;
		}
	}

	void answer() {
		Runnable answer;
		synchronized (World.class) {
			answer = this.underWay;
			this.underWay = null;
		}
		if (answer != null) {
			answer.run();
		}
	}

	/**
	 * A transaction has the row, so that nobody may wait for it.
	 */
	void claim(boolean claimed) {
		synchronized (World.class) {
			World.check(this.underWay == null, "a renewal goes on during a claim");
			this.claimed = claimed;
			World.class.notifyAll();
		}
	}

	boolean isHeld(String key) {
		synchronized (World.class) {
			MemoryLease lease = this.leases.get(key);
			return lease != null && lease.isOurs();
		}
	}

	int granted() {
		synchronized (World.class) {
			return this.granted;
		}
	}

	int givenBack() {
		synchronized (World.class) {
			return this.givenBack;
		}
	}

	int renewed() {
		synchronized (World.class) {
			return this.renewed;
		}
	}

	private final class MemoryLease implements Lease {

		private final String key;

		private final long epoch;

		private final long sentAt;

		private long end;

		private boolean answered;

		private int late;

		private MemoryLease(String key, long epoch, long sentAt, long nanos) {
			this.key = key;
			this.epoch = epoch;
			this.sentAt = sentAt;
			this.end = sentAt + nanos;
		}

		private boolean isOurs() {
			return MemoryBackend.this.leases.get(this.key) == this && (!expires() || World.nanoTime() - this.end < 0);
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
			synchronized (World.class) {
				World.check(!MemoryBackend.this.claimed, "renewed during a claim");
				this.late += this.answered ? 1 : 0;
				World.check(this.late < 2, "renewed after it was given back");
				World.class.notifyAll();
				if (MemoryBackend.this.renewalsFail) {
					return CompletableFuture
						.failedStage(new LockBackendException(this.key, "could not be renewed", null));
				}
				if (isOurs()) {
					this.end = World.nanoTime() + leaseTime.toNanos();
					MemoryBackend.this.renewed++;
					return answer(true);
				}
				return answer(false);
			}
		}

		@Override
		public CompletionStage<Boolean> release() {
			synchronized (World.class) {
				World.check(!this.answered, "given back twice");
				if (MemoryBackend.this.releasesToFail > 0) {
					MemoryBackend.this.releasesToFail--;
					return CompletableFuture
						.failedStage(new LockBackendException(this.key, "could not be released", null));
				}
				this.answered = true;
				boolean ours = isOurs();
				if (ours) {
					MemoryBackend.this.leases.remove(this.key);
				}
				MemoryBackend.this.givenBack++;
				World.class.notifyAll();
				return answer(ours);
			}
		}

	}

}
