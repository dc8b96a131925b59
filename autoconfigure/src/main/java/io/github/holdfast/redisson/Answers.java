package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.support.Deadline;

/**
 * Waits for answers of Redis.
 */
final class Answers {

	/** How long an answer is waited for at least, whatever the wait time of a call is. */
	static final Duration MIN_TIMEOUT = Duration.ofSeconds(2);

	private Answers() {
	}

	/**
	 * Wait for an answer, at least for the minimum. Redisson does not keep the order of
	 * what it sends: only when the answer is there is it safe to take something back. So
	 * an interrupt does not end the wait, but shortens it to the minimum.
	 * @param <T> the type of the answer
	 * @param answer the answer
	 * @param timeout how long to wait
	 * @return the answer
	 * @throws ExecutionException if Redis failed
	 * @throws TimeoutException if there was no answer in time
	 */
	static <T> T await(CompletableFuture<T> answer, Duration timeout) throws ExecutionException, TimeoutException {
		return await(answer, deadline(timeout));
	}

	/**
	 * Until when an answer is waited for.
	 */
	static Deadline deadline(Duration timeout) {
		return Deadline.after((timeout.compareTo(MIN_TIMEOUT) > 0) ? timeout : MIN_TIMEOUT);
	}

	/**
	 * Wait for an answer that others may be waited for besides.
	 */
	static <T> T await(CompletableFuture<T> answer, Deadline until) throws ExecutionException, TimeoutException {
		Deadline deadline = until;
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
					Deadline shorter = Deadline.after(MIN_TIMEOUT);
					deadline = (shorter.remainingNanos() < deadline.remainingNanos()) ? shorter : deadline;
				}
				catch (CancellationException ex) {
					throw new ExecutionException(ex);
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	static LockBackendException failure(String key, String what, Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof ExecutionException || cause instanceof CompletionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		String reason = (cause instanceof TimeoutException) ? "Redis did not answer in time" : "Redis failed";
		return new LockBackendException(key, "could not be " + what + ", " + reason, cause);
	}

}
