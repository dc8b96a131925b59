package io.github.holdfast.core;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.dao.ConcurrencyFailureException;

import io.github.holdfast.LockException;
import io.github.holdfast.LockNotAcquiredException;

/**
 * A call under optimistic locks: the body runs again, after a random pause, until its
 * commit meets no conflict or the wait time is over.
 */
final class OptimisticCall {

	private static final Logger logger = Loggers.TEMPLATE;

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private final LockEngine engine;

	private final LockSpec spec;

	private final Collection<String> keys;

	private final long start = System.nanoTime();

	private long pause = FIRST_PAUSE;

	OptimisticCall(LockEngine engine, LockSpec spec, Collection<String> keys) {
		this.engine = engine;
		this.spec = spec;
		this.keys = keys;
	}

	<T extends @Nullable Object, E extends Throwable> T run(LockEngine.Body<T, E> body) throws E {
		for (int attempt = 1;; attempt++) {
			LockCall call = this.engine.acquire(this.keys, this.spec, this.start);
			Throwable conflict = null;
			try (call) {
				T result = body.call();
				if (call.commits().version() != Commits.Version.CONFLICT) {
					checkCommitted(call);
					return result;
				}
			}
			catch (Throwable ex) {
				if (!isConflict(call, ex)) {
					throw ex;
				}
				conflict = ex;
			}
			logger.trace("Lock {}: attempt {} met a conflict", LockException.quote(call.keys().get(0)), attempt);
			pause(call, attempt, conflict);
		}
	}

	/**
	 * Whether nothing was committed, only because of others that worked at the same time.
	 * The database may notice that before or after the versions are compared.
	 */
	private static boolean isConflict(LockCall call, Throwable ex) {
		boolean refused = ex instanceof ConcurrencyFailureException && !(ex instanceof LockException);
		return !call.isReentry() && switch (call.commits().version()) {
			case KEPT -> refused;
			case CONFLICT -> true;
			case REPLACED -> false;
		};
	}

	private static void checkCommitted(LockCall call) {
		if (!call.isReentry() && !call.commits().isGuarded()) {
			throw new IllegalStateException("Lock " + LockException.quote(call.keys().get(0)) + " (" + call.name()
					+ ") is optimistic, but no transaction was committed that would have noticed the changes of "
					+ "others: what the body has written, if anything, is not protected. Declare the method "
					+ "@Transactional with a transaction manager on the database of the fence, or lock exclusively");
		}
	}

	/**
	 * Wait at random, so that those who have met do not meet again.
	 * @throws LockNotAcquiredException if the wait time is over, or the wait was ended
	 */
	private void pause(LockCall call, int attempts, @Nullable Throwable conflict) {
		Duration left = this.spec.times().waitTime().minusNanos(System.nanoTime() - this.start);
		LockNotAcquiredException.Reason end = LockNotAcquiredException.Reason.CONFLICT;
		if (left.compareTo(Duration.ZERO) > 0) {
			Duration pause = Duration.ofNanos(ThreadLocalRandom.current().nextLong(this.pause));
			end = this.engine.pause(this.spec, (pause.compareTo(left) < 0) ? pause : left);
		}
		if (end != null) {
			throw new LockNotAcquiredException(call.keys().get(0), end, this.spec.times().waitTime(), attempts,
					conflict);
		}
		this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
	}

}
