package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.support.Deadline;

/**
 * One wait for a lock. When it is over, the lock is held or nothing is left of it.
 */
final class RedissonAcquisition implements AutoCloseable {

	private final RedissonLocks locks;

	private final Holder holder;

	private boolean queued;

	private @Nullable ReleaseSignal signal;

	RedissonAcquisition(RedissonLocks locks, Holder holder) {
		this.locks = locks;
		this.holder = holder;
	}

	@Nullable LockLease attempt(Deadline deadline) throws InterruptedException {
		if (this.holder.request().fair() && !isFirst(deadline)) {
			return null;
		}
		CompletableFuture<Boolean> locked = this.locks.tryLock(this.holder);
		if (!answer(locked, deadline, () -> releaseOnceLocked(locked))) {
			return null;
		}
		Deadline lease = Deadline.ofLease(this.holder.request().leaseTime());
		long epoch = answer(this.locks.start(this.holder), deadline, () -> this.locks.abandon(this.holder));
		if (epoch == 0) {
			return null;
		}
		this.queued = false;
		return new RedissonLockLease(this.locks, this.holder, epoch, lease);
	}

	private boolean isFirst(Deadline deadline) throws InterruptedException {
		this.queued = true;
		return answer(this.locks.queue(this.holder), deadline, () -> {
		}) == 1;
	}

	/**
	 * Redis may take the lock when nobody waits for the answer any more.
	 */
	private void releaseOnceLocked(CompletableFuture<Boolean> locked) {
		locked.whenComplete((taken, ex) -> {
			if (ex != null || taken) {
				this.locks.abandon(this.holder);
			}
		});
	}

	private <T> T answer(CompletableFuture<T> answer, Deadline deadline, Runnable giveBack)
			throws InterruptedException {
		try {
			return Answers.await(answer, deadline.remaining());
		}
		catch (ExecutionException | TimeoutException ex) {
			giveBack.run();
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			throw Answers.failure(this.holder.request().key(), "acquired", ex);
		}
	}

	/**
	 * Wait until the lock is released.
	 */
	void pause(long nanos) throws InterruptedException {
		if (this.signal == null) {
			this.signal = this.locks.listen(this.holder);
		}
		this.signal.await(nanos);
	}

	@Override
	public void close() {
		if (this.signal != null) {
			this.signal.close();
		}
		if (this.queued) {
			leave();
		}
	}

	private void leave() {
		try {
			Answers.await(this.locks.leave(this.holder), Duration.ZERO);
		}
		catch (ExecutionException | TimeoutException ex) {
			// The place in the queue runs out by itself
		}
	}

}
