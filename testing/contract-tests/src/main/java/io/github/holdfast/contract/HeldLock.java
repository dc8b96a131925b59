package io.github.holdfast.contract;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;

/**
 * A lease and what the library keeps of it: its time, and whether it is lost or released.
 */
final class HeldLock {

	/** Longer than a store may take to answer. */
	private static final long ANSWER_SECONDS = 70;

	private final LockRequest request;

	private final LockBackend.Lease lease;

	private volatile long end;

	private volatile boolean over;

	private volatile boolean released;

	HeldLock(LockRequest request, LockBackend.Lease lease) {
		this.request = request;
		this.lease = lease;
		this.end = end(lease.sentAt(), request.leaseTime());
	}

	/**
	 * The library lets a lease end a hundredth early, because two clocks never run at
	 * quite the same rate.
	 */
	private static long end(long sentAt, Duration leaseTime) {
		return sentAt + leaseTime.toNanos() / 100 * 99;
	}

	String key() {
		return this.request.key();
	}

	long epoch() {
		return this.lease.epoch();
	}

	long sentAt() {
		return this.lease.sentAt();
	}

	/** The time that is left, or {@code null} if the lease does not expire. */
	@Nullable Duration remaining() {
		if (this.over) {
			return Duration.ZERO;
		}
		return this.lease.expires() ? Duration.ofNanos(Math.max(0, this.end - System.nanoTime())) : null;
	}

	boolean isValid() {
		Duration remaining = remaining();
		return (remaining == null || !remaining.isZero()) && this.lease.isAlive();
	}

	/**
	 * Renews the lease, even if the library would not because its time is over. A lease
	 * that does not expire is never renewed.
	 */
	boolean renew(Duration leaseTime) throws Exception {
		if (!this.lease.expires()) {
			return this.lease.isAlive();
		}
		long sentAt = System.nanoTime();
		CompletableFuture<Boolean> answer;
		synchronized (this) {
			answer = this.lease.renew(leaseTime).toCompletableFuture();
		}
		boolean renewed = answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
		if (renewed) {
			this.end = end(sentAt, leaseTime);
		}
		else {
			this.over = true;
		}
		return renewed;
	}

	boolean release() throws Exception {
		this.over = true;
		CompletableFuture<Boolean> answer;
		synchronized (this) {
			answer = this.lease.release().toCompletableFuture();
		}
		boolean held = answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
		this.released = true;
		return held;
	}

	/** Releases the lock unless it has been released, whatever the answer is. */
	synchronized void releaseQuietly() {
		this.over = true;
		if (!this.released) {
			this.lease.release();
		}
	}

}
