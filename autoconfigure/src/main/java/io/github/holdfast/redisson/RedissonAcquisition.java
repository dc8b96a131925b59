package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.RedisRefusal;

/**
 * One wait for a lock. When it is over, the lock is held or nothing is left of it.
 */
final class RedissonAcquisition implements AutoCloseable {

	private final RedissonLocks locks;

	private final Holder holder;

	private boolean queued;

	/** Whether the lock was taken, but its lease not started yet. */
	private boolean taken;

	/** Why Redis did not do what it was asked for last, as it was not ready. */
	private @Nullable Throwable refusal;

	private @Nullable ReleaseSignal signal;

	RedissonAcquisition(RedissonLocks locks, Holder holder) {
		this.locks = locks;
		this.holder = holder;
	}

	/**
	 * Ask once. While Redis is not ready and there is time left, the lock counts as not
	 * granted yet.
	 */
	@Nullable LockLease attempt(Deadline deadline) throws InterruptedException {
		boolean last = deadline.hasPassed();
		if (this.holder.request().fair() && !isFirst(deadline, last)) {
			return null;
		}
		if (!this.taken && !take(deadline, last)) {
			return null;
		}
		Deadline lease = Deadline.ofLease(this.holder.request().leaseTime());
		Long epoch = answer(this.locks.start(this.holder), deadline, last, () -> {
		});
		if (epoch == null) {
			return null;
		}
		this.taken = false;
		if (epoch == 0) {
			return null;
		}
		this.queued = false;
		return new RedissonLockLease(this.locks, this.holder, epoch, lease);
	}

	private boolean isFirst(Deadline deadline, boolean last) throws InterruptedException {
		this.queued = true;
		Long first = answer(this.locks.queue(this.holder), deadline, last, () -> {
		});
		return first != null && first == 1;
	}

	private boolean take(Deadline deadline, boolean last) throws InterruptedException {
		CompletableFuture<Boolean> locked = this.locks.tryLock(this.holder);
		this.taken = Boolean.TRUE.equals(answer(locked, deadline, last, () -> releaseOnceLocked(locked)));
		return this.taken;
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

	/**
	 * Wait for an answer.
	 * @param giveBack is run if there is none and nothing is asked again
	 * @return the answer, or {@code null} if Redis is to be asked again
	 */
	private <T> @Nullable T answer(CompletableFuture<T> answer, Deadline deadline, boolean last, Runnable giveBack)
			throws InterruptedException {
		try {
			T answered = Answers.await(answer, deadline.remaining());
			this.refusal = null;
			return answered;
		}
		catch (ExecutionException | TimeoutException ex) {
			boolean interrupted = Thread.interrupted();
			if (!last && !interrupted && RedisRefusal.isTemporary(ex)) {
				this.refusal = ex;
				return null;
			}
			giveBack.run();
			if (interrupted) {
				throw new InterruptedException();
			}
			throw Answers.failure(this.holder.request().key(), "acquired",
					(ex instanceof TimeoutException && this.refusal != null) ? this.refusal : ex);
		}
	}

	/**
	 * Wait until the lock is released.
	 */
	void pause(long nanos) throws InterruptedException {
		if (this.signal == null) {
			this.signal = this.locks.listen(this.holder);
		}
		this.signal.await(Math.min(nanos, this.locks.polling().longest().toNanos()));
	}

	/**
	 * What Redis was not ready for may be one that it was sent again, because its first
	 * answer was lost.
	 */
	@Override
	public void close() {
		if (this.signal != null) {
			this.signal.close();
		}
		if (this.taken || this.refusal != null) {
			this.locks.abandon(this.holder);
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
