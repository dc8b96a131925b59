package io.github.holdfast.core;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;

/**
 * Tells the listeners what becomes of one call. One that fails is logged, and the others
 * are told all the same. Safe for use by many threads.
 */
final class LockEvents {

	private static final Logger logger = LoggerFactory.getLogger(LockListener.class);

	private static final AtomicLong CALLS = new AtomicLong();

	private final List<LockListener> listeners;

	private final LockListener.Call call;

	private final long start = System.nanoTime();

	private final Set<String> lost = new HashSet<>(0);

	private volatile long acquisition;

	private LockEvents(List<LockListener> listeners, LockListener.Call call) {
		this.listeners = listeners;
		this.call = call;
	}

	/**
	 * The events of a call that is about to ask for keys.
	 */
	static LockEvents of(String name, List<String> keys, LockRequest.Mode mode, List<LockListener> listeners) {
		LockListener.Call call = new LockListener.Call(CALLS.incrementAndGet(), name, keys, mode);
		return new LockEvents(listeners, call);
	}

	void attempted() {
		tell((listener) -> listener.attempted(this.call));
	}

	void acquired() {
		this.acquisition = System.nanoTime();
		Duration waitTime = Duration.ofNanos(this.acquisition - this.start);
		debug("waited for {} for {} ms", waitTime, null);
		tell((listener) -> listener.acquired(this.call, waitTime));
	}

	void notAcquired(Throwable cause) {
		Reason reason = reason(cause);
		Duration waitTime = since(this.start);
		debug("gave up {} after {} ms: {}", waitTime, reason);
		tell((listener) -> listener.notAcquired(this.call, reason, waitTime));
	}

	private static Reason reason(Throwable cause) {
		if (!(cause instanceof LockNotAcquiredException ex)) {
			return Reason.STORE_ERROR;
		}
		return switch (ex.reason()) {
			case BUSY, CONFLICT -> Reason.BUSY;
			case INTERRUPTED -> Reason.INTERRUPTED;
			case SHUTDOWN -> Reason.SHUTDOWN;
			case QUEUE_FULL -> Reason.QUEUE_FULL;
		};
	}

	/**
	 * Tell of a loss, which may be found more than once.
	 */
	void lost(String key) {
		boolean known;
		synchronized (this.lost) {
			known = !this.lost.add(key);
		}
		if (!known) {
			Duration holdTime = since(this.acquisition);
			tell((listener) -> listener.lost(this.call, key, holdTime));
		}
	}

	/**
	 * How long the locks have been held.
	 */
	Duration holdTime() {
		return since(this.acquisition);
	}

	void released(Outcome outcome, Duration holdTime) {
		debug("held {} for {} ms: {}", holdTime, outcome);
		tell((listener) -> listener.released(this.call, outcome, holdTime));
	}

	private void debug(String text, Duration time, @Nullable Object outcome) {
		if (Loggers.TEMPLATE.isDebugEnabled()) {
			Loggers.TEMPLATE.debug("Call " + this.call.id() + " of lock '" + this.call.name() + "' " + text,
					this.call.keys().stream().map(LockException::quote).toList(), time.toMillis(), outcome);
		}
	}

	private static Duration since(long start) {
		return Duration.ofNanos(System.nanoTime() - start);
	}

	private void tell(Consumer<LockListener> event) {
		for (LockListener listener : this.listeners) {
			try {
				event.accept(listener);
			}
			catch (Throwable ex) {
				logger.warn("Lock '{}': a listener failed", this.call.name(), ex);
			}
		}
	}

}
