package io.github.holdfast.core;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockNotAcquiredException;

/**
 * The threads that wait for a lock, so that all of them can be told to stop waiting.
 */
final class LockWaits {

	private final Set<Wait> waits = ConcurrentHashMap.newKeySet();

	/**
	 * Note that the current thread begins to wait.
	 */
	Wait begin() {
		Wait wait = new Wait(Thread.currentThread());
		this.waits.add(wait);
		return wait;
	}

	/**
	 * Let the current thread wait for some time, or not at all during a shutdown.
	 * @param time how long
	 * @param shutdown whether the application shuts down
	 * @return why the wait was ended early, or {@code null}
	 */
	LockNotAcquiredException.@Nullable Reason pause(Duration time, BooleanSupplier shutdown) {
		Wait wait = begin();
		boolean interrupted = false;
		boolean cancelled;
		try {
			if (!shutdown.getAsBoolean()) {
				TimeUnit.NANOSECONDS.sleep(time.toNanos());
			}
		}
		catch (InterruptedException ex) {
			interrupted = true;
		}
		finally {
			cancelled = wait.end();
		}
		if (interrupted && !cancelled) {
			Thread.currentThread().interrupt();
		}
		if (cancelled || shutdown.getAsBoolean()) {
			return LockNotAcquiredException.Reason.SHUTDOWN;
		}
		return interrupted ? LockNotAcquiredException.Reason.INTERRUPTED : null;
	}

	/**
	 * Interrupt all threads that wait now.
	 */
	void cancel() {
		this.waits.forEach(Wait::cancel);
	}

	/**
	 * One thread that waits.
	 */
	final class Wait {

		private final Thread thread;

		private boolean ended;

		private boolean cancelled;

		private Wait(Thread thread) {
			this.thread = thread;
		}

		private synchronized void cancel() {
			if (!this.ended && !this.cancelled) {
				this.cancelled = true;
				this.thread.interrupt();
			}
		}

		/**
		 * Note that the wait is over, and take back an interrupt that was ours.
		 * @return whether the wait was cancelled
		 */
		synchronized boolean end() {
			if (!this.ended) {
				this.ended = true;
				LockWaits.this.waits.remove(this);
				if (this.cancelled) {
					Thread.interrupted();
				}
			}
			return this.cancelled;
		}

	}

}
