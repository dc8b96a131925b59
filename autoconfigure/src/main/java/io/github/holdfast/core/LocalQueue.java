package io.github.holdfast.core;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The queue of this JVM. One thread for each key has the turn and may ask the store; the
 * others wait in order of arrival. A thread that arrives while the turn is free may
 * overtake threads that are being woken up, because waking a thread takes longer than a
 * short body. This is limited in number and time. A grant may be left to the next thread.
 */
final class LocalQueue {

	private static final int MOST_WAITERS = 10_000;

	private static final int MOST_OVERTAKES = 8;

	private static final long LONGEST_OVERTAKING = TimeUnit.MICROSECONDS.toNanos(200);

	private static final long LONGEST_REST = TimeUnit.MILLISECONDS.toNanos(5);

	private final ConcurrentHashMap<String, Place> places = new ConcurrentHashMap<>();

	/**
	 * Waits for the turn of a key.
	 * @param key the stored key
	 * @param nanos how long to wait; zero means one attempt
	 * @return the turn, or {@code null} if the time is over
	 * @throws RejectedExecutionException if too many threads wait
	 */
	@Nullable Turn enter(String key, long nanos) throws InterruptedException {
		Place place = this.places.compute(key, (same, known) -> {
			Place entered = (known != null) ? known : new Place(key);
			if (entered.users > MOST_WAITERS) {
				throw new RejectedExecutionException("At most " + MOST_WAITERS + " threads may wait for one key");
			}
			entered.users++;
			return entered;
		});
		boolean entered = false;
		try {
			entered = place.overtake() || place.await(nanos);
		}
		finally {
			if (!entered) {
				Grant stranded = leave(place, null);
				if (stranded != null) {
					stranded.release();
				}
			}
		}
		return entered ? new Turn(place) : null;
	}

	/**
	 * The failure that the last question to the store ended with.
	 * @return {@code null} if it did not fail, or before a time
	 */
	@Nullable RuntimeException failure(String key, long since) {
		Place place = this.places.get(key);
		Failure failure = (place != null) ? place.failure : null;
		return (failure != null && failure.time - since > 0) ? failure.cause : null;
	}

	/**
	 * Ends the visit of a thread.
	 * @param left what it leaves to the next thread, if one waits
	 * @return a grant that no thread takes
	 */
	private @Nullable Grant leave(Place place, @Nullable Grant left) {
		AtomicReference<@Nullable Grant> stranded = new AtomicReference<>(left);
		this.places.compute(place.key, (key, same) -> {
			place.users--;
			if (place.users > 0) {
				if (left != null) {
					place.left = left;
					stranded.set(null);
				}
				return place;
			}
			if (left == null) {
				stranded.set(place.left);
			}
			return null;
		});
		return stranded.get();
	}

	/**
	 * The threads of one key.
	 */
	private static final class Place {

		private final String key;

		private final Semaphore turn = new Semaphore(1, true);

		/** The threads that have the turn or wait. Changed inside the map only. */
		private int users;

		private volatile int overtakes;

		private volatile long firstOvertake;

		private volatile @Nullable Grant left;

		private volatile @Nullable Failure failure;

		private volatile boolean releasing;

		private volatile long askAt = System.nanoTime();

		private Place(String key) {
			this.key = key;
		}

		private boolean overtake() {
			if (!this.turn.hasQueuedThreads()) {
				return this.turn.tryAcquire();
			}
			long now = System.nanoTime();
			boolean first = this.overtakes == 0;
			if (!first && (this.overtakes >= MOST_OVERTAKES || now - this.firstOvertake > LONGEST_OVERTAKING)
					|| !this.turn.tryAcquire()) {
				return false;
			}
			if (first) {
				this.firstOvertake = now;
			}
			this.overtakes = this.overtakes + 1;
			return true;
		}

		/**
		 * Even a single attempt waits for a release that is under way, because the key is
		 * free then.
		 */
		private boolean await(long nanos) throws InterruptedException {
			long limit = this.releasing ? Math.max(nanos, TimeUnit.SECONDS.toNanos(1)) : nanos;
			boolean acquired = this.turn.tryAcquire(limit, TimeUnit.NANOSECONDS);
			if (acquired) {
				this.overtakes = 0;
			}
			return acquired;
		}

	}

	private record Failure(RuntimeException cause, long time) {
	}

	/**
	 * The right of one thread to ask the store for a key. Ends once, on any thread.
	 */
	final class Turn {

		private final Place place;

		private final AtomicBoolean over = new AtomicBoolean();

		private Turn(Place place) {
			this.place = place;
			place.releasing = false;
		}

		/**
		 * Takes the grant that the thread before has left.
		 */
		@Nullable Grant takeLeft() {
			Grant left = this.place.left;
			this.place.left = null;
			return left;
		}

		boolean isWaitedFor() {
			return this.place.turn.hasQueuedThreads();
		}

		/**
		 * Leaves a grant to the next thread.
		 * @return {@code false} if no thread waits; then the turn continues
		 */
		boolean leaveTo(Grant grant) {
			if (!isWaitedFor() || !this.over.compareAndSet(false, true)) {
				return false;
			}
			Grant stranded = leave(this.place, grant);
			if (stranded != null) {
				stranded.release();
			}
			else {
				this.place.turn.release();
			}
			return true;
		}

		/**
		 * Ends the turn.
		 */
		void exit() {
			if (this.over.compareAndSet(false, true)) {
				leave(this.place, null);
				this.place.turn.release();
			}
		}

		void releasing() {
			if (!this.over.get()) {
				this.place.releasing = true;
			}
		}

		void answered(@Nullable RuntimeException failure) {
			this.place.failure = (failure != null) ? new Failure(failure, System.nanoTime()) : null;
		}

		/**
		 * Lets other nodes have the key first, after this one has kept it for long.
		 */
		void restAfter(long heldNanos) {
			this.place.askAt = System.nanoTime() + Math.min(heldNanos / 8, LONGEST_REST);
		}

		void rest(long mostNanos) throws InterruptedException {
			long rest = Math.min(this.place.askAt - System.nanoTime(), mostNanos);
			if (rest > 0) {
				LockSupport.parkNanos(rest);
				if (Thread.interrupted()) {
					throw new InterruptedException();
				}
			}
		}

	}

}
