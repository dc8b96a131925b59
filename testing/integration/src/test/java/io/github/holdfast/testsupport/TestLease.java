package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;

/** A lease with its time, which the library keeps for its callers. */
public final class TestLease {

	private final LockBackend.Lease lease;

	private volatile long end;

	private volatile boolean over;

	private TestLease(LockRequest request, LockBackend.Lease lease) {
		this.lease = lease;
		this.end = lease.sentAt() + request.leaseTime().toNanos() / 100 * 99;
	}

	public static @Nullable TestLease acquire(LockBackend backend, LockRequest request) throws InterruptedException {
		LockBackend.Lease lease = backend.acquire(request);
		return (lease != null) ? new TestLease(request, lease) : null;
	}

	public long epoch() {
		return this.lease.epoch();
	}

	/** The time for which the lock is surely held, unless a session ends. */
	public Duration remaining() {
		return Duration.ofNanos(Math.max(0, this.end - System.nanoTime()));
	}

	public boolean isValid() {
		return !this.over && this.lease.isAlive() && (!this.lease.expires() || !remaining().isZero());
	}

	public boolean renew(Duration leaseTime) {
		long newEnd = System.nanoTime() + leaseTime.toNanos() / 100 * 99;
		// The store may have shortened the lease, even if it does not answer
		this.end = Math.min(this.end, newEnd);
		boolean renewed = this.lease.expires() ? join(this.lease.renew(leaseTime).toCompletableFuture())
				: this.lease.isAlive();
		this.end = renewed ? newEnd : this.end;
		this.over |= !renewed;
		return renewed;
	}

	private static boolean join(CompletableFuture<Boolean> answer) {
		try {
			return answer.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException failure) ? failure : ex;
		}
	}

	public CompletableFuture<Boolean> release() {
		this.over = true;
		try {
			return this.lease.release().toCompletableFuture();
		}
		catch (LockBackendException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

}
