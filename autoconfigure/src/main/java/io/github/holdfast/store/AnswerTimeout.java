package io.github.holdfast.store;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Fails answers that nobody waits for and that do not come in time. All have the same
 * time, so the oldest one is due first and a single timer is enough: one for each answer
 * would wake a thread with each call.
 *
 * @since 0.2.0
 */
public final class AnswerTimeout {

	private final Duration timeout;

	private final Queue<Pending> pending = new ConcurrentLinkedQueue<>();

	/** One thread drops answers, so that others do not compete for the same. */
	private final ReentrantLock dropping = new ReentrantLock();

	private final AtomicBoolean scheduled = new AtomicBoolean();

	/**
	 * Create a time-out.
	 * @param timeout how long each answer may take
	 */
	public AnswerTimeout(Duration timeout) {
		this.timeout = timeout;
	}

	/**
	 * Fail an answer with a {@link TimeoutException} unless it comes in time.
	 * @param <T> the type of the answer
	 * @param answer the answer
	 * @return the same answer
	 */
	public <T> CompletableFuture<T> limit(CompletableFuture<T> answer) {
		this.pending.add(new Pending(answer, Deadline.after(this.timeout)));
		if (this.dropping.tryLock()) {
			try {
				dropAnswered();
			}
			finally {
				this.dropping.unlock();
			}
		}
		schedule(this.timeout);
		return answer;
	}

	/**
	 * The answers that are still looked after. Those that have come are dropped with the
	 * next one.
	 * @return the size
	 */
	int size() {
		return this.pending.size();
	}

	private void schedule(Duration time) {
		if (this.scheduled.compareAndSet(false, true)) {
			DaemonThreads.later(time, this::expire);
		}
	}

	private void expire() {
		Pending oldest = oldest();
		while (oldest != null && oldest.deadline.hasPassed()) {
			oldest.answer.completeExceptionally(new TimeoutException());
			oldest = oldest();
		}
		if (oldest == null) {
			this.scheduled.set(false);
			// One may have come in between, which has seen that a timer was set
			oldest = oldest();
			if (oldest != null) {
				schedule(oldest.deadline.remaining());
			}
		}
		else {
			DaemonThreads.later(oldest.deadline.remaining(), this::expire);
		}
	}

	private @Nullable Pending oldest() {
		this.dropping.lock();
		try {
			return dropAnswered();
		}
		finally {
			this.dropping.unlock();
		}
	}

	private @Nullable Pending dropAnswered() {
		Pending oldest = this.pending.peek();
		while (oldest != null && oldest.answer.isDone()) {
			this.pending.remove();
			oldest = this.pending.peek();
		}
		return oldest;
	}

	private record Pending(CompletableFuture<?> answer, Deadline deadline) {

	}

}
