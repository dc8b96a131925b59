package io.github.holdfast.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;

/**
 * Waits for answers of stores, and says what it means that there is none.
 *
 * @since 0.2.0
 */
public final class Answers {

	private static final Duration LONGEST_RENEWAL = Duration.ofSeconds(10);

	private Answers() {
	}

	/**
	 * How long the renewal of a lease may take before it is tried again: a third of the
	 * lease time, but no more than 10 s, as it may keep a caller waiting that has done
	 * its work, and the renewal of other leases.
	 * @param leaseTime the lease time, or the rest of a minimum hold time
	 * @param minimum what a store needs to answer at all
	 * @return the timeout
	 */
	public static Duration renewalTimeout(Duration leaseTime, Duration minimum) {
		Duration third = leaseTime.dividedBy(3);
		if (third.compareTo(LONGEST_RENEWAL) > 0) {
			return LONGEST_RENEWAL;
		}
		return (third.compareTo(minimum) > 0) ? third : minimum;
	}

	/**
	 * Wait for an answer. An interrupt does not end the wait and is kept for later.
	 * @param <T> the type of the answer
	 * @param answer the answer
	 * @param timeout how long to wait
	 * @return the answer
	 * @throws ExecutionException if the store failed
	 * @throws TimeoutException if there was no answer in time
	 */
	public static <T> T awaitUninterruptibly(CompletableFuture<T> answer, Duration timeout)
			throws ExecutionException, TimeoutException {
		Deadline deadline = Deadline.after(timeout);
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Fail an answer that does not come in time with a {@link TimeoutException}, and give
	 * it up.
	 * @param <T> the type of the answer
	 * @param answer the answer
	 * @param timeout how long it may take
	 * @return the answer, or why there is none
	 */
	public static <T> CompletableFuture<T> inTime(CompletableFuture<T> answer, Duration timeout) {
		CompletableFuture<T> inTime = new CompletableFuture<>();
		Future<?> end = DaemonThreads.later(timeout, () -> {
			if (inTime.completeExceptionally(new TimeoutException())) {
				answer.cancel(true);
			}
		});
		answer.whenComplete((value, failure) -> {
			end.cancel(false);
			follow(inTime, value, failure);
		});
		return inTime;
	}

	static <T> void follow(CompletableFuture<T> answer, T value, @Nullable Throwable failure) {
		if (failure != null) {
			answer.completeExceptionally(cause(failure));
		}
		else {
			answer.complete(value);
		}
	}

	/**
	 * Wait for an answer that comes or fails in bounded time.
	 */
	static <T> T join(CompletionStage<T> answer) {
		try {
			return answer.toCompletableFuture().join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (ex.getCause() instanceof RuntimeException failure) ? failure : ex;
		}
	}

	/**
	 * The first answer of several.
	 * @param <T> the type of the answers
	 * @param answers at least one
	 * @return an answer, or a failure if all of them have failed
	 */
	public static <T> CompletableFuture<T> any(List<CompletableFuture<T>> answers) {
		CompletableFuture<T> any = new CompletableFuture<>();
		AtomicInteger open = new AtomicInteger(answers.size());
		answers.forEach((answer) -> answer.whenComplete((value, failure) -> {
			boolean last = open.decrementAndGet() == 0;
			if (failure == null) {
				any.complete(value);
			}
			else if (last) {
				any.completeExceptionally(failure);
			}
		}));
		return any;
	}

	/**
	 * What has failed, without what it was wrapped in on its way.
	 * @param failure the failure
	 * @return the failure of the store, or a {@link TimeoutException}
	 */
	public static Throwable cause(Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof ExecutionException || cause instanceof CompletionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	/**
	 * The exception for a request that has failed.
	 * @param key the stored id of the lock
	 * @param what what could not be done with it, as a participle
	 * @param store the name of the store
	 * @param failure the failure
	 * @return the exception
	 */
	public static LockBackendException failure(String key, String what, String store, Throwable failure) {
		Throwable cause = cause(failure);
		String reason = (cause instanceof TimeoutException) ? " did not answer in time" : " failed";
		return new LockBackendException(key, "could not be " + what + ", " + store + reason, cause);
	}

}
