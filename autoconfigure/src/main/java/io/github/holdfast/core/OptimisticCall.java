package io.github.holdfast.core;

import java.util.Collection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.LockCallback;
import io.github.holdfast.LockException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import io.github.holdfast.core.LockCall.Result;
import org.jspecify.annotations.Nullable;

/**
 * A call under optimistic locks: the body runs again, after a random pause, until its
 * commit meets no conflict or the wait time is over.
 */
final class OptimisticCall {

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private final LockManager manager;

	private final LockSettings settings;

	private final Collection<String> keys;

	private final long start = System.nanoTime();

	private long pause = TimeUnit.MILLISECONDS.toNanos(2);

	OptimisticCall(LockManager manager, LockSettings settings, Collection<String> keys) {
		this.manager = manager;
		this.settings = settings;
		this.keys = keys;
	}

	<T extends @Nullable Object, E extends Throwable> T run(LockCallback<T, E> body) throws E {
		for (int attempt = 1;; attempt++) {
			LockCall call = this.manager.open(this.keys, this.settings, this.start);
			Throwable conflict = null;
			try (call) {
				T result = body.call();
				if (!call.has(Result.CONFLICT) || call.isCommitted()) {
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
			pause(call, attempt, conflict);
		}
	}

	/**
	 * Whether the body may run again: nothing was committed, only because of others that
	 * worked at the same time. The database may notice that before the versions are
	 * compared.
	 */
	private boolean isConflict(LockCall call, Throwable ex) {
		return !call.missing().isEmpty() && !call.isCommitted()
				&& (call.has(Result.CONFLICT) || this.manager.guard().isConflict(ex));
	}

	private static void checkCommitted(LockCall call) {
		if (!call.missing().isEmpty() && !call.isCommitted()) {
			throw new IllegalStateException("Lock " + LockException.quote(call.keys().get(0)) + " (" + call.name()
					+ ") is optimistic, but no transaction was committed under it, so the changes of others could go "
					+ "unnoticed. Declare the method @Transactional with a transaction manager of the database that has "
					+ "the table holdfast_lock, or use mode EXCLUSIVE");
		}
	}

	/**
	 * Waits for a random time, so that calls that have met do not meet again.
	 */
	private void pause(LockCall call, int attempts, @Nullable Throwable conflict) {
		Reason end = Reason.CONFLICT;
		try {
			if (call.remainingWait() > 0) {
				this.manager.pause(call, ThreadLocalRandom.current().nextLong(this.pause));
				this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
				return;
			}
		}
		catch (LockNotAcquiredException ex) {
			end = ex.reason();
		}
		throw new LockNotAcquiredException(call.keys().get(0), end, this.settings.times().waitTimeOrDefault(), attempts,
				conflict);
	}

}
