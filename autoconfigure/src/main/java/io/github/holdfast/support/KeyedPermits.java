package io.github.holdfast.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * One permit for each key, handed to waiting threads in the order of their arrival. A
 * permit belongs to whoever has the object, not to a thread. A key takes memory only
 * while its permit is out.
 *
 * @since 0.1.0
 */
public final class KeyedPermits {

	private final ConcurrentHashMap<String, Queue> queues = new ConcurrentHashMap<>();

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
		Permit permit = new Permit(key);
		Queue queue = this.queues.putIfAbsent(key, new Queue(permit));
		if (queue == null) {
			return permit;
		}
		queue.holder.releaseIfExpired();
		Waiter waiter = new Waiter(Thread.currentThread());
		this.queues.compute(key, (k, current) -> {
			if (current == null) {
				waiter.permit = permit;
				return new Queue(permit);
			}
			current.waiters.add(waiter);
			return current;
		});
		return await(key, waiter, Deadline.after(waitTime));
	}

	private @Nullable Permit await(String key, Waiter waiter, Deadline deadline) throws InterruptedException {
		Permit granted = waiter.permit;
		while (granted == null) {
			if (Thread.interrupted()) {
				granted = leave(key, waiter);
				if (granted != null) {
					granted.release();
				}
				throw new InterruptedException();
			}
			long remaining = deadline.remainingNanos();
			if (remaining == 0) {
				return leave(key, waiter);
			}
			Queue queue = this.queues.get(key);
			LockSupport.parkNanos(this,
					(queue != null) ? Math.min(remaining, queue.holder.nanosToExpiry()) : remaining);
			if (queue != null) {
				queue.holder.releaseIfExpired();
			}
			granted = waiter.permit;
		}
		return granted;
	}

	/**
	 * Leave the queue.
	 * @return the permit if it was granted at this very moment
	 */
	private @Nullable Permit leave(String key, Waiter waiter) {
		this.queues.computeIfPresent(key, (k, queue) -> {
			queue.waiters.remove(waiter);
			return queue;
		});
		return waiter.permit;
	}

	private void release(String key) {
		Waiter[] next = new Waiter[1];
		this.queues.computeIfPresent(key, (k, queue) -> {
			next[0] = queue.waiters.poll();
			if (next[0] == null) {
				return null;
			}
			queue.holder = new Permit(key);
			next[0].permit = queue.holder;
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

		private static final Supplier<@Nullable Duration> NEVER = () -> null;

		/** Makes waiters look again soon. */
		private static final Supplier<@Nullable Duration> NOT_KNOWN_YET = () -> Duration.ofSeconds(1);

		private final String key;

		private final AtomicBoolean released = new AtomicBoolean();

		private volatile Supplier<@Nullable Duration> remaining = NOT_KNOWN_YET;

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
		 * Let waiters take the permit over when its time has run out.
		 * @param remaining supplies the time that is left, or {@code null} for no limit
		 */
		public void expireAfter(Supplier<@Nullable Duration> remaining) {
			this.remaining = remaining;
		}

		/**
		 * Tell waiters that the time that is left has become shorter.
		 */
		public void expiresEarlier() {
			KeyedPermits.this.queues.computeIfPresent(this.key, (key, queue) -> {
				queue.waiters.forEach((waiter) -> LockSupport.unpark(waiter.thread));
				return queue;
			});
		}

		/**
		 * Let nobody take the permit over any more.
		 */
		public void expireNever() {
			this.remaining = NEVER;
		}

		private void releaseIfExpired() {
			Duration left = this.remaining.get();
			if (left != null && left.isZero()) {
				release();
			}
		}

		private long nanosToExpiry() {
			Duration left = this.remaining.get();
			return (left != null) ? left.toNanos() + 1 : Long.MAX_VALUE;
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

	private static final class Queue {

		private final Deque<Waiter> waiters = new ArrayDeque<>(1);

		private volatile Permit holder;

		private Queue(Permit holder) {
			this.holder = holder;
		}

	}

	private static final class Waiter {

		private final Thread thread;

		private volatile @Nullable Permit permit;

		private Waiter(Thread thread) {
			this.thread = thread;
		}

	}

}
