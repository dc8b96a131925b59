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

	/** The permit of each key that is out, with the queue of those who wait for it. */
	private final ConcurrentHashMap<String, Permit> permits = new ConcurrentHashMap<>();

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
		Permit permit = new Permit(key, Thread.currentThread(), new ArrayDeque<>(1));
		Permit held = this.permits.putIfAbsent(key, permit);
		if (held == null) {
			return permit;
		}
		held.releaseIfExpired();
		Waiter waiter = new Waiter(Thread.currentThread());
		this.permits.compute(key, (k, current) -> {
			if (current == null) {
				waiter.permit = permit;
				return permit;
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
			Permit held = this.permits.get(key);
			LockSupport.parkNanos(this, (held != null) ? Math.min(remaining, held.nanosToExpiry()) : remaining);
			if (held != null) {
				held.releaseIfExpired();
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
		this.permits.computeIfPresent(key, (k, held) -> {
			held.waiters.remove(waiter);
			return held;
		});
		return waiter.permit;
	}

	private void release(String key) {
		Permit granted = this.permits.computeIfPresent(key, (k, released) -> released.grantNext());
		if (granted != null) {
			LockSupport.unpark(granted.taker);
		}
	}

	/**
	 * The number of keys whose permit is out.
	 * @return the size
	 */
	public int size() {
		return this.permits.size();
	}

	/**
	 * The permit of one key, until it is released.
	 */
	public final class Permit {

		private static final Supplier<@Nullable Duration> NEVER = () -> null;

		/** Makes waiters look again soon. */
		private static final Supplier<@Nullable Duration> NOT_KNOWN_YET = () -> Duration.ofSeconds(1);

		private final String key;

		/** Who took it; anyone may release it. */
		private final Thread taker;

		/** Passed on from permit to permit, touched only while the map locks the key. */
		private final Deque<Waiter> waiters;

		private final AtomicBoolean released = new AtomicBoolean();

		private volatile Supplier<@Nullable Duration> remaining = NOT_KNOWN_YET;

		private Permit(String key, Thread taker, Deque<Waiter> waiters) {
			this.key = key;
			this.taker = taker;
			this.waiters = waiters;
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
			KeyedPermits.this.permits.computeIfPresent(this.key, (key, held) -> {
				held.waiters.forEach((waiter) -> LockSupport.unpark(waiter.thread));
				return held;
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

		private @Nullable Permit grantNext() {
			Waiter next = this.waiters.poll();
			if (next == null) {
				return null;
			}
			next.permit = new Permit(this.key, next.thread, this.waiters);
			return next.permit;
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

		private volatile @Nullable Permit permit;

		private Waiter(Thread thread) {
			this.thread = thread;
		}

	}

}
