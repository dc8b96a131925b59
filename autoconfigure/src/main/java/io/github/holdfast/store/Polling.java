package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Asks again and again, at growing intervals with jitter, until there is an answer or the
 * time is over.
 *
 * @param first the first interval
 * @param longest the longest interval
 */
public record Polling(Duration first, Duration longest) {

	/**
	 * Ask until there is an answer. Asks once more when the time is over, so that a lock
	 * that became free during the last interval is not missed.
	 * @param <T> the type of the answer
	 * @param waitTime how long to ask; zero means once
	 * @param question asked with the time that is left
	 * @return the answer, or {@code null} if there was none in time
	 * @throws InterruptedException if the thread was interrupted
	 */
	public <T> @Nullable T until(Duration waitTime, Question<T> question) throws InterruptedException {
		return until(waitTime, question, TimeUnit.NANOSECONDS::sleep);
	}

	/**
	 * Ask until there is an answer, with pauses that may end early. Asks once more when
	 * the time is over.
	 * @param <T> the type of the answer
	 * @param waitTime how long to ask; zero means once
	 * @param question asked with the time that is left
	 * @param pause waits between two questions
	 * @return the answer, or {@code null} if there was none in time
	 * @throws InterruptedException if the thread was interrupted
	 */
	public <T> @Nullable T until(Duration waitTime, Question<T> question, Pause pause) throws InterruptedException {
		Deadline deadline = Deadline.after(waitTime);
		long interval = this.first.toNanos();
		while (true) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			boolean last = deadline.hasPassed();
			T answer = question.ask(deadline);
			if (answer != null || last) {
				return answer;
			}
			long jittered = ThreadLocalRandom.current().nextLong(interval / 2, interval + 1);
			pause.await(Math.min(jittered, deadline.remainingNanos()));
			interval = Math.min(interval * 3 / 2, this.longest.toNanos());
		}
	}

	/**
	 * What is asked.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	public interface Question<T> {

		/**
		 * Ask once.
		 * @param deadline when the answer must be there
		 * @return the answer, or {@code null} for "not yet"
		 * @throws InterruptedException if the thread was interrupted
		 */
		@Nullable T ask(Deadline deadline) throws InterruptedException;

	}

	/**
	 * What happens between two questions.
	 */
	@FunctionalInterface
	public interface Pause {

		/**
		 * Wait.
		 * @param nanos how long at most, in nanoseconds
		 * @throws InterruptedException if the thread was interrupted
		 */
		void await(long nanos) throws InterruptedException;

	}

	/**
	 * A moment on this JVM's monotonic clock, which no change of the wall clock moves.
	 */
	public static final class Deadline {

		/** One that has passed already. */
		public static final Deadline PASSED = after(Duration.ZERO);

		/**
		 * Far enough for any wait, near enough that sums of nano times do not overflow.
		 */
		private static final long LONGEST = Long.MAX_VALUE / 4;

		private final long nanoTime;

		private Deadline(long nanoTime) {
			this.nanoTime = nanoTime;
		}

		/**
		 * A deadline that is a duration away from now.
		 * @param duration the duration
		 * @return the deadline
		 */
		public static Deadline after(Duration duration) {
			return new Deadline(System.nanoTime() + nanos(duration));
		}

		private static long nanos(Duration duration) {
			return (duration.getSeconds() < LONGEST / 1_000_000_000) ? duration.toNanos() : LONGEST;
		}

		/**
		 * The time left.
		 * @return nanoseconds, zero once the deadline has passed
		 */
		public long remainingNanos() {
			return Math.max(0, this.nanoTime - System.nanoTime());
		}

		/**
		 * The time left.
		 * @return the duration, zero once the deadline has passed
		 */
		public Duration remaining() {
			return Duration.ofNanos(remainingNanos());
		}

		/**
		 * Whether the deadline has passed.
		 * @return {@code true} if no time is left
		 */
		public boolean hasPassed() {
			return remainingNanos() == 0;
		}

	}

}
