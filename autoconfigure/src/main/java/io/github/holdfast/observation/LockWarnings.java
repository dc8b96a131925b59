package io.github.holdfast.observation;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.DaemonThreads;

/**
 * Warns of locks that are waited for, or held, longer than they should be, with what the
 * thread of the holder does, and of locks that calls take inside of one another in
 * opposite orders: two such calls wait for each other until a wait time is over. Each
 * wait, each hold and each pair of locks is warned of once. Of locks that are busy at the
 * end of a wait, one of each name is told in a minute.
 *
 * <p>
 * Unless a time is set, no thread looks, and calls that hold nothing else cost nothing.
 *
 * @since 0.3.0
 */
public final class LockWarnings implements LockListener.NonBlocking, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockWarnings.class);

	private static final long INTERVAL_MILLIS = 100;

	/** Of the keys of a call, those whose holders are looked for. */
	private static final int MOST_KEYS = 3;

	/** For how long no other busy lock of the same name is told. */
	private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final int MOST_NAMES = 1000;

	/** What is below the code under a lock. */
	private static final Pattern LOCKED_CALL = Pattern
		.compile(Pattern.quote(LockTemplate.class.getName()) + "|io\\.github\\.holdfast\\.interceptor\\..*");

	private final LockOrder order = new LockOrder();

	private final @Nullable Duration waitTime;

	private final @Nullable Duration holdTime;

	private final BiFunction<String, String, @Nullable LockHolder> holders;

	private final Map<Long, Watched> calls = new ConcurrentHashMap<>();

	/** When a busy lock of each name was told last. */
	private final Map<String, Long> told = new ConcurrentHashMap<>();

	private final @Nullable ScheduledExecutorService clock;

	/**
	 * Create a listener that looks until it is closed.
	 * @param waitTime the wait that is warned of, or {@code null} for none
	 * @param holdTime the hold that is warned of, or {@code null} for none
	 * @param holders tells of a name and a key, as it is in the store, who holds it as
	 * far as the store tells
	 */
	public LockWarnings(@Nullable Duration waitTime, @Nullable Duration holdTime,
			BiFunction<String, String, @Nullable LockHolder> holders) {
		this.waitTime = waitTime;
		this.holdTime = holdTime;
		this.holders = holders;
		this.clock = (waitTime != null || holdTime != null) ? DaemonThreads.scheduler("holdfast-watch", 1) : null;
		if (this.clock != null) {
			this.clock.scheduleWithFixedDelay(() -> this.calls.values().forEach(this::look), INTERVAL_MILLIS,
					INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
		}
	}

	@Override
	public void attempted(Call call) {
		this.order.asked(call);
		watch(call, false);
	}

	@Override
	public void acquired(Call call, Duration waitTime) {
		watch(call, true);
	}

	private void watch(Call call, boolean holds) {
		if (this.clock != null) {
			this.calls.put(call.id(), new Watched(call, holds));
		}
	}

	@Override
	public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		this.calls.remove(call.id());
		if (cause instanceof LockNotAcquiredException busy && busy.holder() != null) {
			this.order.busy(call.keyPrefix() + busy.key(), busy.holder());
		}
		if (reason == Reason.BUSY && logger.isInfoEnabled() && isToBeTold(call.name())) {
			logger.info("{}. Others of lock '{}' are not logged for a minute", cause.getMessage(), call.name());
		}
	}

	private boolean isToBeTold(String name) {
		if (this.told.size() >= MOST_NAMES) {
			this.told.clear();
		}
		long now = System.nanoTime();
		return this.told.merge(name, now, (last, it) -> (it - last < QUIET_NANOS) ? last : it) == now;
	}

	@Override
	public void ended(Call call) {
		this.calls.remove(call.id());
	}

	private void look(Watched watched) {
		Duration limit = watched.holds ? this.holdTime : this.waitTime;
		if (limit == null || watched.warned || watched.time().compareTo(limit) < 0) {
			return;
		}
		watched.warned = true;
		logger.warn("Lock '{}' {} has been {} for {}{}", watched.call.name(),
				watched.call.keys().stream().map(LockException::quote).toList(), watched.holds ? "held" : "waited for",
				watched.inThread(), watched.holds ? ", which is" + watched.stack() : ". " + holders(watched));
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
				return "has been held for " + other.inThread() + " of this JVM, which is" + other.stack();
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
		if (this.clock != null) {
			this.clock.shutdownNow();
		}
	}

	/**
	 * A call that waits or holds.
	 */
	private static final class Watched {

		private final Call call;

		private final boolean holds;

		private final Thread thread = Thread.currentThread();

		private final long start = System.nanoTime();

		/** Of the thread that looks. */
		private boolean warned;

		private Watched(Call call, boolean holds) {
			this.call = call;
			this.holds = holds;
		}

		private boolean isOf(Call other, String key) {
			return this.call.backend().equals(other.backend()) && this.call.keyPrefix().equals(other.keyPrefix())
					&& this.call.keys().contains(key);
		}

		private Duration time() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

		private String inThread() {
			return time().toMillis() + " ms by thread '" + this.thread.getName() + "'";
		}

		/**
		 * From where the thread is, down to the first of its locked calls, so that the
		 * code under each lock is there. A lock that code takes and closes itself is not
		 * on the stack.
		 */
		private String stack() {
			StackTraceElement[] frames = this.thread.getStackTrace();
			int last = frames.length - 1;
			while (last > 0 && !LOCKED_CALL.matcher(frames[last].getClassName()).matches()) {
				last--;
			}
			return Arrays.stream(frames)
				.limit((last > 0) ? last : frames.length)
				.map((frame) -> System.lineSeparator() + "\tat " + frame)
				.collect(Collectors.joining());
		}

	}

}
