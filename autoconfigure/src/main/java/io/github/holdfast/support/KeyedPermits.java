package io.github.holdfast.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * One permit for each key, handed to waiting threads in the order of their arrival. A
 * permit belongs to whoever has the object, not to a thread. A key takes memory only
 * while its permit is out.
 *
 * @since 0.1.0
 */
public final class KeyedPermits {

	private final ConcurrentHashMap<String, Deque<Waiter>> queues = new ConcurrentHashMap<>();

	/**
	 * Take the permit of a key.
	 * @param key the key
	 * @param waitTime how long to wait at most; zero means one attempt
	 * @return the permit, or {@code null} if it was out for the whole time
	 * @throws InterruptedException if the thread was interrupted while it waited
	 */
	public @Nullable Permit acquire(String key, Duration waitTime) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		if (this.queues.putIfAbsent(key, new ArrayDeque<>(1)) == null) {
			return new Permit(key);
		}
		if (waitTime.isZero()) {
			return null;
		}
		Waiter waiter = new Waiter(Thread.currentThread());
		this.queues.compute(key, (k, queue) -> {
			if (queue == null) {
				waiter.granted = true;
				return new ArrayDeque<>(1);
			}
			queue.add(waiter);
			return queue;
		});
		return await(key, waiter, Deadline.after(waitTime));
	}

	private @Nullable Permit await(String key, Waiter waiter, Deadline deadline) throws InterruptedException {
		while (!waiter.granted) {
			if (Thread.interrupted()) {
				if (!leave(key, waiter)) {
					release(key);
				}
				throw new InterruptedException();
			}
			long remaining = deadline.remainingNanos();
			if (remaining == 0 && leave(key, waiter)) {
				return null;
			}
			LockSupport.parkNanos(this, remaining);
		}
		return new Permit(key);
	}

	/**
	 * Leave the queue.
	 * @return {@code false} if the permit was granted at this very moment
	 */
	private boolean leave(String key, Waiter waiter) {
		this.queues.computeIfPresent(key, (k, queue) -> {
			queue.remove(waiter);
			return queue;
		});
		return !waiter.granted;
	}

	private void release(String key) {
		Waiter[] next = new Waiter[1];
		this.queues.computeIfPresent(key, (k, queue) -> {
			next[0] = queue.poll();
			if (next[0] == null) {
				return null;
			}
			next[0].granted = true;
			return queue;
		});
		if (next[0] != null) {
			LockSupport.unpark(next[0].thread);
		}
	}

	/**
	 * The number of keys whose permit is out.
	 * @return the size
	 */
	public int size() {
		return this.queues.size();
	}

	/**
	 * The permit of one key, until it is released.
	 */
	public final class Permit {

		private final String key;

		private final AtomicBoolean released = new AtomicBoolean();

		private Permit(String key) {
			this.key = key;
		}

		/**
		 * Whether the permit is still out.
		 * @return {@code false} once released
		 */
		public boolean isHeld() {
			return !this.released.get();
		}

		/**
		 * Give the permit to the next waiter.
		 * @return {@code false} if it was released before
		 */
		public boolean release() {
			if (!this.released.compareAndSet(false, true)) {
				return false;
			}
			KeyedPermits.this.release(this.key);
			return true;
		}

	}

	private static final class Waiter {

		private final Thread thread;

		private volatile boolean granted;

		private Waiter(Thread thread) {
			this.thread = thread;
		}

	}

}
