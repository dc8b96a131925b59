package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The releases of one store. What could not be given back, as the store failed or the
 * thread was interrupted, is given back again on threads of this library, which nobody
 * interrupts, until the store has answered or the lock has run out by itself.
 *
 * <p>
 * A release may run several times and when its lock has long been another one's, so it
 * has to say whose lock it gives back.
 *
 * @since 0.2.0
 */
public final class Releases implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Releases.class);

	/** A release that blocks must not stop all others at once. */
	private static final int THREADS = 2;

	private static final Duration FIRST_PAUSE = Duration.ofMillis(20);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

	private final ScheduledThreadPoolExecutor threads = DaemonThreads.scheduler("holdfast-release", THREADS);

	/**
	 * Create releases of a store.
	 */
	public Releases() {
		this.threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Give a lock back, first on this thread.
	 * @param <T> the type of the answer
	 * @param key the stored id of the lock
	 * @param end when it has run out at the latest
	 * @param release gives it back; its answer comes or fails in bounded time
	 * @return the answer to the first attempt, or its failure
	 */
	public <T> CompletableFuture<T> run(String key, Deadline end, Supplier<CompletableFuture<T>> release) {
		CompletableFuture<T> first = attempt(release);
		first.whenComplete((answer, failure) -> {
			if (failure != null) {
				again(key, end, release, FIRST_PAUSE);
			}
		});
		return first;
	}

	/**
	 * Ask a store, where a failure may be thrown or come as the answer.
	 */
	static <T> CompletableFuture<T> attempt(Supplier<? extends CompletionStage<T>> question) {
		try {
			return question.get().toCompletableFuture();
		}
		catch (RuntimeException | Error ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private <T> void again(String key, Deadline end, Supplier<CompletableFuture<T>> release, Duration pause) {
		if (end.remaining().compareTo(pause) <= 0) {
			return;
		}
		try {
			this.threads.schedule(() -> attempt(release).whenComplete((answer, failure) -> {
				if (failure == null) {
					logger.info("Lock '{}': the store has answered to a later attempt to release it", key);
				}
				else {
					logger.debug("Lock '{}' could not be released, trying again", key, failure);
					again(key, end, release, next(pause));
				}
			}), pause.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Lock '{}' is not released any more, as the application ends", key);
		}
	}

	private static Duration next(Duration pause) {
		Duration next = pause.multipliedBy(2);
		return (next.compareTo(LONGEST_PAUSE) < 0) ? next : LONGEST_PAUSE;
	}

	/**
	 * Try nothing again from now on, as the store cannot be asked any more.
	 */
	@Override
	public void close() {
		this.threads.shutdownNow();
	}

}
