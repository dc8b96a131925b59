package io.github.holdfast.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * One permit for each key, handed to waiting threads in the order of their arrival. A
 * permit belongs to whoever has the object, not to a thread. A key takes memory only
 * while its permit is out.
 *
 * @param <T> what a permit may bring along for the next one who gets it
 * @since 0.1.0
 */
public final class KeyedPermits<T> {

	/** The permit of each key that is out, with the queue of those who wait for it. */
	private final ConcurrentHashMap<String, Permit> permits = new ConcurrentHashMap<>();

	private final AtomicInteger waiting = new AtomicInteger();

	/**
	 * Take the permit of a key.
	 * @param key the key
	 * @param waitTime how long to wait at most; zero means one attempt
	 * @param limits how many threads may wait
	 * @return the permit, or {@code null} if it was out for the whole time. One that was
	 * granted at the moment of an interrupt is returned with the interrupt flag set
	 * @throws InterruptedException if the thread was interrupted while it waited
	 * @throws RejectedExecutionException if too many threads wait already
	 */
	public @Nullable Permit acquire(String key, Duration waitTime, QueueLimits limits) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		Permit permit = new Permit(key, Thread.currentThread(), new ArrayDeque<>(1), null);
		Permit held = this.permits.putIfAbsent(key, permit);
		if (held == null) {
			return permit;
		}
		held.releaseIfExpired();
		Waiter<T> waiter = new Waiter<>(Thread.currentThread());
		this.permits.compute(key, (k, current) -> {
			if (current == null) {
				waiter.permit = permit;
				return permit;
			}
			if (!waitTime.isZero()) {
				limits.check(current.waiters.size(), this.waiting.get());
				current.waiters.add(waiter);
			}
			return current;
		});
		if (waiter.permit != null || waitTime.isZero()) {
			return waiter.permit;
		}
		this.waiting.incrementAndGet();
		try {
			return await(key, waiter, Deadline.after(waitTime));
		}
		finally {
			this.waiting.decrementAndGet();
		}
	}

	private @Nullable Permit await(String key, Waiter<T> waiter, Deadline deadline) throws InterruptedException {
		Permit granted = waiter.permit;
		while (granted == null) {
			if (Thread.interrupted()) {
				granted = leave(key, waiter);
				if (granted == null) {
					throw new InterruptedException();
				}
				Thread.currentThread().interrupt();
				return granted;
			}
			Permit held = this.permits.get(key);
			if (held != null) {
				held.releaseIfExpired();
			}
			long remaining = deadline.remainingNanos();
			if (waiter.permit == null && remaining == 0) {
				return leave(key, waiter);
			}
			if (waiter.permit == null) {
				LockSupport.parkNanos(this, (held != null) ? Math.min(remaining, held.nanosToExpiry()) : remaining);
			}
			granted = waiter.permit;
		}
		return granted;
	}

	/**
	 * Leave the queue.
	 * @return the permit if it was granted at this very moment
	 */
	private @Nullable Permit leave(String key, Waiter<T> waiter) {
		this.permits.computeIfPresent(key, (k, held) -> {
			held.waiters.remove(waiter);
			return held;
		});
		return waiter.permit;
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
		private final Deque<Waiter<T>> waiters;

		private final @Nullable T brought;

		private final AtomicBoolean released = new AtomicBoolean();

		private volatile Supplier<@Nullable Duration> remaining = NOT_KNOWN_YET;

		private Permit(String key, Thread taker, Deque<Waiter<T>> waiters, @Nullable T brought) {
			this.key = key;
			this.taker = taker;
			this.waiters = waiters;
			this.brought = brought;
		}

		/**
		 * What the last one left for this one.
		 * @return what it left, or {@code null} if there is nothing
		 */
		public @Nullable T brought() {
			return this.brought;
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
		 * Let nobody take the permit over until it is released, which is to be soon.
		 */
		public void releasesSoon() {
			this.remaining = NOT_KNOWN_YET;
		}

		/**
		 * Let nobody take the permit over any more.
		 */
		public void expireNever() {
			this.remaining = NEVER;
		}

		private void releaseIfExpired() {
			Supplier<@Nullable Duration> remaining = this.remaining;
			Duration left = remaining.get();
			if (left != null && left.isZero() && this.remaining == remaining) {
				release();
			}
		}

		private long nanosToExpiry() {
			Duration left = this.remaining.get();
			return (left != null) ? left.toNanos() + 1 : Long.MAX_VALUE;
		}

		/**
		 * Give the permit to the next waiter, if there is one.
		 * @return {@code false} if it was released before
		 */
		public boolean release() {
			return releaseWith(null);
		}

		/**
		 * Give the permit to the next waiter, if there is one.
		 * @param left what to leave for it
		 * @return {@code false} if it was released before
		 */
		public boolean releaseWith(@Nullable T left) {
			if (!this.released.compareAndSet(false, true)) {
				return false;
			}
			Permit granted = KeyedPermits.this.permits.computeIfPresent(this.key, (key, held) -> grantNext(left));
			if (granted != null) {
				LockSupport.unpark(granted.taker);
			}
			return true;
		}

		/**
		 * Give the permit to the next waiter, or keep it if there is none.
		 * @param left what to leave for it
		 * @return {@code false} if nobody waits, or if it was released before
		 */
		public boolean pass(T left) {
			AtomicReference<@Nullable Permit> granted = new AtomicReference<>();
			KeyedPermits.this.permits.computeIfPresent(this.key, (key, held) -> {
				if (held != this || this.waiters.isEmpty() || !this.released.compareAndSet(false, true)) {
					return held;
				}
				granted.setPlain(grantNext(left));
				return granted.getPlain();
			});
			Permit next = granted.getPlain();
			if (next == null) {
				return false;
			}
			LockSupport.unpark(next.taker);
			return true;
		}

		private @Nullable Permit grantNext(@Nullable T left) {
			Waiter<T> next = this.waiters.poll();
			if (next == null) {
				return null;
			}
			Permit granted = new Permit(this.key, next.thread, this.waiters, left);
			next.permit = granted;
			return granted;
		}

	}

	private static final class Waiter<T> {

		private final Thread thread;

		private volatile KeyedPermits<T>.@Nullable Permit permit;

		private Waiter(Thread thread) {
			this.thread = thread;
		}

	}

}
