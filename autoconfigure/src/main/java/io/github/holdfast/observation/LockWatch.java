package io.github.holdfast.observation;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockListener;

/**
 * Warns of locks that are waited for, or held, longer than they should be, with what the
 * thread of the holder does. Each wait and each hold is warned of once.
 *
 * @since 0.2.0
 */
public final class LockWatch implements LockListener, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockWatch.class);

	private static final long SHORTEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long LONGEST_INTERVAL = TimeUnit.SECONDS.toNanos(1);

	/** Of the keys of a call, those whose holders are looked for. */
	private static final int MOST_KEYS = 3;

	private static final int MOST_FRAMES = 40;

	private final @Nullable Duration waitTime;

	private final @Nullable Duration holdTime;

	private final BiFunction<String, String, @Nullable LockHolder> holders;

	private final Map<Long, Watched> calls = new ConcurrentHashMap<>();

	private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1, (task) -> {
		Thread thread = new Thread(task, "holdfast-watch");
		thread.setDaemon(true);
		return thread;
	});

	/**
	 * Create a watch that looks until it is closed.
	 * @param waitTime the wait that is warned of, or {@code null} for none
	 * @param holdTime the hold that is warned of, or {@code null} for none
	 * @param holders tells of a name and a key, as it is in the store, who holds it as
	 * far as the store tells
	 */
	public LockWatch(@Nullable Duration waitTime, @Nullable Duration holdTime,
			BiFunction<String, String, @Nullable LockHolder> holders) {
		this.waitTime = waitTime;
		this.holdTime = holdTime;
		this.holders = holders;
		long interval = Math.max(SHORTEST_INTERVAL,
				Math.min(LONGEST_INTERVAL, Math.min(nanos(waitTime), nanos(holdTime)) / 4));
		this.clock.scheduleWithFixedDelay(this::look, interval, interval, TimeUnit.NANOSECONDS);
	}

	private static long nanos(@Nullable Duration time) {
		try {
			return (time != null) ? time.toNanos() : Long.MAX_VALUE;
		}
		catch (ArithmeticException ex) {
			return Long.MAX_VALUE;
		}
	}

	@Override
	public void attempted(Call call) {
		this.calls.put(call.id(), new Watched(call, Thread.currentThread(), false));
	}

	@Override
	public void acquired(Call call, Duration waitTime) {
		this.calls.put(call.id(), new Watched(call, Thread.currentThread(), true));
	}

	@Override
	public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		this.calls.remove(call.id());
	}

	@Override
	public void ended(Call call) {
		this.calls.remove(call.id());
	}

	private void look() {
		for (Watched watched : this.calls.values()) {
			try {
				look(watched);
			}
			catch (RuntimeException ex) {
				logger.debug("Lock '{}' could not be looked at", watched.call.name(), ex);
			}
		}
	}

	private void look(Watched watched) {
		Duration limit = watched.holds ? this.holdTime : this.waitTime;
		Duration time = watched.time();
		if (limit == null || watched.warned || time.compareTo(limit) < 0) {
			return;
		}
		watched.warned = true;
		if (watched.holds) {
			logger.warn("Lock '{}' {} has been held for {} ms by thread '{}', which is{}", watched.call.name(),
					watched.quotedKeys(), time.toMillis(), watched.thread.getName(), watched.stack());
		}
		else {
			logger.warn("Lock '{}' {} has been waited for for {} ms by thread '{}'. {}", watched.call.name(),
					watched.quotedKeys(), time.toMillis(), watched.thread.getName(), holders(watched));
		}
	}

	private String holders(Watched waiter) {
		return waiter.call.keys()
			.stream()
			.limit(MOST_KEYS)
			.map((key) -> LockException.quote(key) + " " + holder(waiter, key))
			.collect(Collectors.joining(". "));
	}

	private String holder(Watched waiter, String key) {
		for (Watched other : this.calls.values()) {
			if (other.holds && other.isOf(waiter.call, key)) {
				return "has been held for " + other.time().toMillis() + " ms by thread '" + other.thread.getName()
						+ "' of this JVM, which is" + other.stack();
			}
		}
		try {
			LockHolder holder = this.holders.apply(waiter.call.name(), waiter.call.keyPrefix() + key);
			return (holder != null) ? "is " + holder.text() : "has no holder that the store tells of";
		}
		catch (RuntimeException ex) {
			return "has a holder that could not be asked for: " + ex.getMessage();
		}
	}

	@Override
	public void close() {
		this.clock.shutdownNow();
	}

	/**
	 * A call that waits or holds.
	 */
	private static final class Watched {

		private final Call call;

		private final Thread thread;

		private final boolean holds;

		private final long start = System.nanoTime();

		/** Of the thread that looks. */
		private boolean warned;

		private Watched(Call call, Thread thread, boolean holds) {
			this.call = call;
			this.thread = thread;
			this.holds = holds;
		}

		private boolean isOf(Call other, String key) {
			return this.call.backend().equals(other.backend()) && this.call.keyPrefix().equals(other.keyPrefix())
					&& this.call.keys().contains(key);
		}

		private Duration time() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

		private List<String> quotedKeys() {
			return this.call.keys().stream().map(LockException::quote).toList();
		}

		private String stack() {
			return Arrays.stream(this.thread.getStackTrace())
				.limit(MOST_FRAMES)
				.map((frame) -> System.lineSeparator() + "\tat " + frame)
				.collect(Collectors.joining());
		}

	}

}
