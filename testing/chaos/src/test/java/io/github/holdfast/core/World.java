package io.github.holdfast.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.helpers.NOPLogger;

/**
 * Time and waiting as the schedules see them: the time passes when a schedule says so,
 * and all that wait do so at one monitor. Knows which bodies run, and what was wrong.
 */
final class World {

	private static final long SHORT = 5_000_000;

	private static long now;

	private static List<Thread> woken = new ArrayList<>();

	private static List<Thread> interrupted = new ArrayList<>();

	private static int queued;

	private static int visits;

	private static List<LockCall> bodies = new ArrayList<>();

	private static Map<String, Long> tokens = new HashMap<>();

	private static @Nullable String violation;

	private World() {
	}

	static synchronized void begin() {
		now = 0;
		woken = new ArrayList<>();
		interrupted = new ArrayList<>();
		queued = 0;
		visits = 0;
		bodies = new ArrayList<>();
		tokens = new HashMap<>();
		violation = null;
	}

	// In place of what the core calls

	static synchronized long nanoTime() {
		return now;
	}

	/**
	 * A short time passes by itself.
	 */
	static synchronized void parkNanos(long nanos) {
		long end = now + nanos;
		Thread thread = Thread.currentThread();
		while (!woken.remove(thread) && nanos > SHORT && now - end < 0 && !interrupted.contains(thread)) {
			sleep();
		}
	}

	static synchronized void unpark(@Nullable Thread thread) {
		if (thread != null && !woken.contains(thread)) {
			woken.add(thread);
			World.class.notifyAll();
		}
	}

	static synchronized void interrupt(Thread thread) {
		interrupted.add(thread);
		World.class.notifyAll();
	}

	static synchronized boolean interrupted() {
		return interrupted.remove(Thread.currentThread());
	}

	static synchronized void queue() {
		queued++;
		World.class.notifyAll();
	}

	/**
	 * How many waits for a turn there were.
	 */
	static synchronized int queued() {
		return queued;
	}

	static synchronized void visit() {
		visits++;
		World.class.notifyAll();
	}

	static synchronized int visits() {
		return visits;
	}

	static Logger logger(Class<?> type) {
		return NOPLogger.NOP_LOGGER;
	}

	// What a schedule does

	static synchronized void advance(long nanos) {
		now += nanos;
		World.class.notifyAll();
	}

	static synchronized void await(BooleanSupplier condition) {
		while (!condition.getAsBoolean()) {
			sleep();
		}
	}

	/**
	 * Waits for any change. Called with the monitor.
	 */
	static void sleep() {
		try {
			World.class.wait();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * At each moment, one call at most may believe that a key is its own. The tokens of
	 * such calls rise.
	 */
	static synchronized void enter(LockCall call) {
		for (String key : call.keys()) {
			if (call.isValid(key)) {
				long token = call.fencingToken(key);
				check(token > tokens.getOrDefault(key, 0L), "a token did not rise");
				tokens.put(key, token);
				for (LockCall other : bodies) {
					check(!other.keys().contains(key) || !other.isValid(key), "two holders of one key");
				}
			}
		}
		bodies.add(call);
		World.class.notifyAll();
	}

	static synchronized void leave(LockCall call) {
		bodies.remove(call);
		World.class.notifyAll();
	}

	static synchronized int bodies() {
		return bodies.size();
	}

	static synchronized void check(boolean promise, String otherwise) {
		if (!promise && violation == null) {
			violation = otherwise;
		}
	}

	static synchronized void end() {
		if (violation != null) {
			throw new AssertionError(violation);
		}
	}

}
