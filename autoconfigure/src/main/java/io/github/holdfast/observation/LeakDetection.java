package io.github.holdfast.observation;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.holdfast.LockException;
import io.github.holdfast.LockListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs a warning with the stack of the thread when a lock has been held for longer than a
 * threshold, once for each call.
 */
public final class LeakDetection implements LockListener, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LeakDetection.class);

	private final Duration threshold;

	private final Map<Long, Future<?>> warnings = new ConcurrentHashMap<>();

	private final ScheduledThreadPoolExecutor timer;

	/**
	 * Create a listener.
	 * @param threshold how long a lock may be held without a warning
	 */
	public LeakDetection(Duration threshold) {
		this.threshold = threshold;
		this.timer = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "holdfast-leak-detection");
			thread.setDaemon(true);
			return thread;
		});
		this.timer.setRemoveOnCancelPolicy(true);
	}

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		Thread thread = Thread.currentThread();
		this.warnings.put(call.id(),
				this.timer.schedule(() -> warn(call, thread), this.threshold.toNanos(), TimeUnit.NANOSECONDS));
	}

	private void warn(Call call, Thread thread) {
		String keys = call.keys().stream().map(LockException::quote).collect(Collectors.joining(", "));
		logger.warn("Lock '{}' (key {}) has been held for {} ms. Stack of thread '{}':{}", call.name(), keys,
				this.threshold.toMillis(), thread.getName(),
				Arrays.stream(thread.getStackTrace()).map((frame) -> "\n\tat " + frame).collect(Collectors.joining()));
	}

	@Override
	public void onReleased(Call call, Outcome outcome, Duration holdTime) {
		Future<?> warning = this.warnings.remove(call.id());
		if (warning != null && !warning.cancel(false)) {
			logger.info("Lock '{}' that was reported after {} ms was released after {} ms", call.name(),
					this.threshold.toMillis(), holdTime.toMillis());
		}
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
	}

}
