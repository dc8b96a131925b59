package io.github.holdfast;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * A call under optimistic locks: the body runs again, after a random pause, until its
 * commit is not overtaken or the wait time is over.
 */
final class OptimisticCall {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private final LockEngine engine;

	private final LockSettings settings;

	private final Collection<String> keys;

	private final long start = System.nanoTime();

	private long pause = FIRST_PAUSE;

	OptimisticCall(LockEngine engine, LockSettings settings, Collection<String> keys) {
		this.engine = engine;
		this.settings = settings;
		this.keys = keys;
	}

	<T extends @Nullable Object, E extends Throwable> T run(LockTemplate.Body<T, E> body) throws E {
		for (int attempt = 1;; attempt++) {
			LockScope scope = this.engine.acquire(this.keys, this.settings, this.start);
			Throwable conflict = null;
			try (scope) {
				T result = body.call();
				if (scope.version() != LockNotes.Version.OVERTAKEN) {
					checkCommitted(scope);
					return result;
				}
			}
			catch (Throwable ex) {
				if (!isConflict(scope, ex)) {
					throw ex;
				}
				conflict = ex;
			}
			logger.debug("Lock {}: attempt {} was overtaken", LockException.quote(scope.keys().get(0)), attempt);
			pause(scope, attempt, conflict);
		}
	}

	/**
	 * Whether nothing was committed, only because of others that worked at the same time.
	 * The database may notice that before or after the versions are compared.
	 */
	private static boolean isConflict(LockScope scope, Throwable ex) {
		boolean refused = ex instanceof ConcurrencyFailureException && !(ex instanceof LockException);
		return !scope.isReentry() && switch (scope.version()) {
			case KEPT -> refused;
			case OVERTAKEN -> true;
			case REPLACED -> false;
		};
	}

	private static void checkCommitted(LockScope scope) {
		if (!scope.isReentry() && !scope.isGuarded()) {
			throw new IllegalStateException("Lock " + LockException.quote(scope.keys().get(0)) + " (" + scope.name()
					+ ") is optimistic, but no transaction was committed that would have noticed the changes of "
					+ "others: what the body has written, if anything, is not protected. Declare the method "
					+ "@Transactional with a transaction manager on the database of the fence, or lock exclusively");
		}
	}

	/**
	 * Wait at random, so that those who have met do not meet again.
	 * @throws LockNotAcquiredException if the wait time is over, or the wait was ended
	 */
	private void pause(LockScope scope, int attempts, @Nullable Throwable conflict) {
		Duration left = this.settings.waitTime().minusNanos(System.nanoTime() - this.start);
		LockNotAcquiredException.Reason end = LockNotAcquiredException.Reason.CONFLICT;
		if (left.compareTo(Duration.ZERO) > 0) {
			Duration pause = Duration.ofNanos(ThreadLocalRandom.current().nextLong(this.pause));
			end = this.engine.pause((pause.compareTo(left) < 0) ? pause : left);
		}
		if (end != null) {
			throw new LockNotAcquiredException(scope.keys().get(0), end, this.settings.waitTime(), attempts, conflict);
		}
		this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
	}

}
