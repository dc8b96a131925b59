package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.LockNotAcquiredException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports one call to all listeners. A listener that throws is logged.
 */
final class LockListeners {

	private static final Logger logger = LoggerFactory.getLogger(LockListener.class);

	private static final AtomicLong CALLS = new AtomicLong();

	private final List<LockListener> listeners;

	private final LockListener.Call call;

	private final boolean skips;

	LockListeners(List<LockListener> listeners, LockSettings settings, List<String> keys, String backend) {
		this.listeners = keys.isEmpty() ? List.of() : listeners;
		this.call = new LockListener.Call(CALLS.incrementAndGet(), settings.name(), keys, settings.mode(), backend,
				settings.keyPrefix());
		this.skips = settings.skips();
	}

	void attempt() {
		tell((listener) -> listener.onAttempt(this.call));
	}

	void acquired(Duration waitTime) {
		tell((listener) -> listener.onAcquired(this.call, waitTime));
	}

	void notAcquired(Duration waitTime, Throwable cause) {
		if (cause instanceof LockBackendException) {
			backendFailure(Operation.ACQUIRE, cause);
		}
		tell((listener) -> listener.onNotAcquired(this.call, reason(cause), waitTime, cause));
	}

	private Reason reason(Throwable cause) {
		if (!(cause instanceof LockNotAcquiredException ex)) {
			return Reason.BACKEND_FAILURE;
		}
		return switch (ex.reason()) {
			case BUSY, CONFLICT -> this.skips ? Reason.SKIPPED : Reason.BUSY;
			case INTERRUPTED -> Reason.INTERRUPTED;
			case SHUTDOWN -> Reason.SHUTDOWN;
			case QUEUE_FULL -> Reason.QUEUE_FULL;
		};
	}

	void backendFailure(Operation operation, Throwable failure) {
		tell((listener) -> listener.onBackendFailure(this.call, operation, failure));
	}

	void lost(String key, Duration holdTime) {
		tell((listener) -> listener.onLost(this.call, key, holdTime));
	}

	void released(Outcome outcome, Duration holdTime) {
		tell((listener) -> listener.onReleased(this.call, outcome, holdTime));
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
