package io.github.holdfast.store;

import java.time.Duration;
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
 * <p>
 * A thread that sleeps takes some time to wake up. Meanwhile a permit that was granted to
 * it may be taken by a thread that comes just then and is awake already, a few times and
 * for a short time at most, and never while somebody waits who asked for the strict
 * order.
 *
 * @param <T> what a permit may bring along for the next one who gets it
 * @since 0.2.0
 */
public final class KeyedPermits<T> {

	/** Longer than any store is waited for. */
	private static final Duration LONGEST_RELEASE = Duration.ofSeconds(10);

	private static final Duration SWEEP = Duration.ofSeconds(10);

	/** The permit of each key that is out, with the queue of those who wait for it. */
	private final ConcurrentHashMap<String, Permit> permits = new ConcurrentHashMap<>();

	private final AtomicInteger waiting = new AtomicInteger();

	private volatile Deadline nextSweep = Deadline.after(SWEEP);

	private final Duration longestBarging;

	/**
	 * Create permits that are all in.
	 */
	public KeyedPermits() {
		this(Barging.LONGEST);
	}

	/**
	 * Create permits that are all in.
	 * @param longestBarging how long after the first one others can barge in before a
	 * waiter
	 */
	KeyedPermits(Duration longestBarging) {
		this.longestBarging = longestBarging;
	}

	/**
	 * Take the permit of a key.
	 * @param key the key
	 * @param waitTime how long to wait at most; zero means one attempt, which waits for a
	 * release that is under way, unless somebody else does
	 * @param fair whether to be served in the strict order of arrival
	 * @param limits how many threads may wait
	 * @return the permit, or {@code null} if it was out for the whole time. One that was
	 * granted at the moment of an interrupt is returned with the interrupt flag set
	 * @throws InterruptedException if the thread was interrupted while it waited
	 * @throws RejectedExecutionException if too many threads wait already
	 */
	public @Nullable Permit acquire(String key, Duration waitTime, boolean fair, QueueLimits limits)
			throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		Permit permit = new Permit(key, Thread.currentThread(), new PermitQueue<>(), null, null);
		Permit held = this.permits.putIfAbsent(key, permit);
		if (held == null) {
			return permit;
		}
		held.releaseIfExpired();
		boolean single = waitTime.isZero();
		PermitWaiter<T> waiter = new PermitWaiter<>(fair || single, this.longestBarging);
		this.permits.compute(key, (k, current) -> {
			if (current == null) {
				waiter.permit = permit;
				return permit;
			}
			return single ? current.joinRelease(waiter) : current.join(waiter, limits);
		});
		if (single && !waiter.queued) {
			return waiter.permit;
		}
		this.waiting.incrementAndGet();
		try {
			return await(key, waiter, Deadline.after(single ? LONGEST_RELEASE : waitTime));
		}
		finally {
			this.waiting.decrementAndGet();
		}
	}

	/**
	 * Take the permit of a key if nobody has it.
	 * @param key the key
	 * @return the permit, or {@code null} if it is out
	 */
	public @Nullable Permit tryAcquire(String key) {
		Permit permit = new Permit(key, Thread.currentThread(), new PermitQueue<>(), null, null);
		return (this.permits.putIfAbsent(key, permit) == null) ? permit : null;
	}

	private @Nullable Permit await(String key, PermitWaiter<T> waiter, Deadline deadline) throws InterruptedException {
		Permit granted = waiter.claim();
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
				LockSupport.parkNanos(this, (held != null) ? Math.min(remaining, held.expiry.nanos()) : remaining);
			}
			granted = waiter.claim();
		}
		return granted;
	}

	/**
	 * Leave the queue.
	 * @return the permit if it was granted at this very moment
	 */
	private @Nullable Permit leave(String key, PermitWaiter<T> waiter) {
		this.permits.computeIfPresent(key, (k, held) -> {
			held.waiters.leave(waiter);
			// Otherwise one who barges in would put it back
			waiter.claim();
			return held;
		});
		return waiter.claim();
	}

	/**
	 * Release what was left to run out and nobody asks for again.
	 */
	private void sweep() {
		if (this.nextSweep.hasPassed()) {
			this.nextSweep = Deadline.after(SWEEP);
			this.permits.values().forEach(Permit::releaseIfExpired);
		}
	}

	/**
	 * The last failure of those who had the permit of a key, one after the other.
	 * @param key the key
	 * @return the failure, or {@code null} if there was none since one of them succeeded
	 */
	public @Nullable RuntimeException failure(String key) {
		Permit held = this.permits.get(key);
		return (held != null) ? held.failure : null;
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

		private final String key;

		/** Who took it; anyone may release it. */
		private final Thread taker;

		private final PermitQueue<T> waiters;

		private final @Nullable T brought;

		/** Who still has to wake up for it. */
		private final @Nullable PermitWaiter<T> sleeper;

		final PermitState state;

		private final PermitExpiry expiry = new PermitExpiry();

		private volatile @Nullable RuntimeException failure;

		private Permit(String key, Thread taker, PermitQueue<T> waiters, @Nullable T brought,
				@Nullable PermitWaiter<T> sleeper) {
			this.key = key;
			this.taker = taker;
			this.waiters = waiters;
			this.brought = brought;
			this.sleeper = sleeper;
			this.state = (sleeper != null) ? PermitState.granted() : PermitState.claimed();
		}

		/**
		 * Barge in before the one who has not woken up yet, or queue up.
		 * @return the permit that is out then
		 */
		private Permit join(PermitWaiter<T> waiter, QueueLimits limits) {
			PermitWaiter<T> sleeper = this.sleeper;
			if (sleeper != null && !sleeper.fair && sleeper.barging.canBeMore() && !waiter.fair
					&& !this.waiters.isOrdered() && this.state.barge()) {
				sleeper.permit = null;
				sleeper.barging.add();
				this.waiters.addFirst(sleeper);
				waiter.permit = new Permit(this.key, waiter.thread, this.waiters, this.brought, null);
				waiter.permit.failure = this.failure;
				return waiter.permit;
			}
			limits.check(this.waiters.size(), KeyedPermits.this.waiting.get());
			this.waiters.join(waiter);
			return this;
		}

		/**
		 * Queue up for what is about to be released, if nobody else has done so.
		 * @return the permit that is out
		 */
		private Permit joinRelease(PermitWaiter<T> waiter) {
			if (this.expiry.isReleasing() && this.waiters.isEmpty()) {
				waiter.queued = true;
				this.waiters.addFirst(waiter);
			}
			return this;
		}

		/**
		 * What the last one left for this one.
		 * @return what it left, or {@code null} if there is nothing
		 */
		public @Nullable T brought() {
			return this.brought;
		}

		/**
		 * Tell those who wait that what they wait for has failed, or that it works.
		 * @param failure the failure, or {@code null}
		 */
		public void failed(@Nullable RuntimeException failure) {
			this.failure = failure;
		}

		/**
		 * Whether the permit is still out.
		 * @return {@code false} once released
		 */
		public boolean isHeld() {
			return this.state.isHeld();
		}

		/**
		 * Whether another thread waits for the permit.
		 * @return {@code false} also once it was released
		 */
		public boolean isWaitedFor() {
			AtomicBoolean waitedFor = new AtomicBoolean();
			KeyedPermits.this.permits.computeIfPresent(this.key, (key, held) -> {
				waitedFor.setPlain(held == this && !this.waiters.isEmpty());
				return held;
			});
			return waitedFor.getPlain();
		}

		/**
		 * Let waiters take the permit over when its time has run out. If there is none,
		 * it is released when another one is used, some time later.
		 * @param remaining supplies the time that is left, or {@code null} for no limit
		 */
		public void expireAfter(Supplier<@Nullable Duration> remaining) {
			this.expiry.after(remaining);
			sweep();
		}

		/**
		 * Tell waiters that the time that is left has become shorter.
		 */
		public void expiresEarlier() {
			KeyedPermits.this.permits.computeIfPresent(this.key, (key, held) -> {
				held.waiters.wakeAll();
				return held;
			});
		}

		/**
		 * Let nobody take the permit over until it is released, which is to be soon, so
		 * that a single attempt may wait for it.
		 */
		public void releasesSoon() {
			this.expiry.byRelease();
		}

		/**
		 * Let nobody take the permit over any more.
		 */
		public void expireNever() {
			this.expiry.never();
		}

		private void releaseIfExpired() {
			if (this.expiry.hasPassed()) {
				release();
			}
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
			if (!this.state.release()) {
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
		 * @param leaving what to do at last, if there is one
		 * @return {@code false} if nobody waits, or if it was released before
		 */
		public boolean handOver(Leaving<T> leaving) {
			AtomicReference<@Nullable Permit> granted = new AtomicReference<>();
			KeyedPermits.this.permits.computeIfPresent(this.key, (key, held) -> {
				if (held != this || this.waiters.isEmpty() || !this.state.release()) {
					return held;
				}
				granted.setPlain(grantNext(leaving.leave()));
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
			PermitWaiter<T> next = this.waiters.poll();
			if (next == null) {
				return null;
			}
			Permit granted = new Permit(this.key, next.thread, this.waiters, left, next);
			granted.failure = this.failure;
			next.permit = granted;
			return granted;
		}

	}

	/**
	 * The last thing that is done with a permit before the next one has it. The key is
	 * locked meanwhile, so it must neither wait nor use a permit.
	 *
	 * @param <T> what a permit may bring along
	 */
	@FunctionalInterface
	public interface Leaving<T> {

		/**
		 * End the use of the permit.
		 * @return what to leave for the next one
		 */
		@Nullable T leave();

	}

}
