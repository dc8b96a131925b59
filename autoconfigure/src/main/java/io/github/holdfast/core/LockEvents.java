package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;

/**
 * Tells the listeners, and at DEBUG the log, what becomes of one call. A listener that
 * fails is logged, and the others are told all the same. Safe for use by many threads.
 */
final class LockEvents {

	private static final Logger logger = LoggerFactory.getLogger(LockListener.class);

	private static final AtomicLong CALLS = new AtomicLong();

	private final List<LockListener> listeners;

	private final LockListener.Call call;

	private final long start = System.nanoTime();

	private @Nullable Set<String> lost;

	/** Only if the log is to tell them. */
	private List<Long> tokens = List.of();

	private volatile long acquisition;

	/** Whether the listeners know that the locks are held, and not of their end. */
	private boolean held;

	private int lossesBeingTold;

	/** The end that came meanwhile. */
	private @Nullable Runnable end;

	private LockEvents(List<LockListener> listeners, LockListener.Call call) {
		this.listeners = listeners;
		this.call = call;
	}

	/**
	 * The events of a call of this thread that is about to ask for keys.
	 */
	static LockEvents of(LockSpec spec, List<String> keys, String backend, List<LockListener> listeners) {
		return new LockEvents(listeners, new LockListener.Call(CALLS.incrementAndGet(), spec.name(), keys, spec.mode(),
				backend, spec.keyPrefix(), keys.isEmpty() ? List.of() : held()));
	}

	/**
	 * Optimistic locks hold nothing.
	 */
	private static List<String> held() {
		if (LockStack.current() == null) {
			return List.of();
		}
		List<String> held = new ArrayList<>();
		for (HeldLock lock : LockStack.all()) {
			if (lock.mode() != LockRequest.Mode.OPTIMISTIC) {
				lock.leases().forEach((lease) -> held.add(lease.key()));
			}
		}
		return held.stream().distinct().toList();
	}

	void attempted() {
		tell((listener) -> listener.attempted(this.call));
	}

	void acquired(List<HeldLease> leases) {
		this.acquisition = System.nanoTime();
		if (Loggers.TEMPLATE.isDebugEnabled() && this.call.mode() != LockRequest.Mode.OPTIMISTIC) {
			this.tokens = leases.stream().map(HeldLease::lease).map(LockLease::token).toList();
		}
		if (!this.listeners.isEmpty()) {
			Duration waitTime = waitTime();
			tell((listener) -> listener.acquired(this.call, waitTime));
		}
		synchronized (this) {
			this.held = true;
		}
	}

	void notAcquired(Throwable cause) {
		Reason reason = reason(cause);
		Duration waitTime = since(this.start);
		if (Loggers.TEMPLATE.isDebugEnabled()) {
			Loggers.TEMPLATE.debug("Call {} of lock '{}' waited for {} for {} ms: {}", this.call.id(), this.call.name(),
					quotedKeys(), waitTime.toMillis(), reason);
		}
		if (cause instanceof LockBackendException) {
			storeFailed(Operation.ACQUIRE, cause);
		}
		tell((listener) -> listener.notAcquired(this.call, reason, waitTime, cause));
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

	void storeFailed(Operation operation, Throwable failure) {
		tell((listener) -> listener.storeFailed(this.call, operation, failure));
	}

	/**
	 * Tell of a loss, which may be found more than once. One that is found before all
	 * locks are held is found again at the end, if the call begins at all.
	 */
	void lost(String key) {
		if (beginLoss(key)) {
			try {
				Duration holdTime = holdTime();
				tell((listener) -> listener.lost(this.call, key, holdTime));
			}
			finally {
				endLoss();
			}
		}
	}

	private synchronized boolean beginLoss(String key) {
		boolean begun = this.held && isNew(key);
		if (begun) {
			this.lossesBeingTold++;
		}
		return begun;
	}

	private boolean isNew(String key) {
		Set<String> lost = this.lost;
		if (lost == null) {
			lost = new HashSet<>(2);
			this.lost = lost;
		}
		return lost.add(key);
	}

	private void endLoss() {
		Runnable end;
		synchronized (this) {
			end = (--this.lossesBeingTold == 0) ? this.end : null;
		}
		if (end != null) {
			end.run();
		}
	}

	/**
	 * How long the locks have been held.
	 */
	Duration holdTime() {
		return since(this.acquisition);
	}

	private Duration waitTime() {
		return Duration.ofNanos(this.acquisition - this.start);
	}

	void ended() {
		tell((listener) -> listener.ended(this.call));
	}

	void released(Outcome outcome, Duration holdTime) {
		if (Loggers.TEMPLATE.isDebugEnabled()) {
			Loggers.TEMPLATE.debug("Call {} of lock '{}' waited for {} for {} ms, held for {} ms{}: {}", this.call.id(),
					this.call.name(), quotedKeys(), waitTime().toMillis(), holdTime.toMillis(), withTokens(), outcome);
		}
		if (endsNow(outcome, holdTime)) {
			tellEnd(outcome, holdTime);
		}
	}

	/**
	 * Otherwise the one who tells a loss tells the end after it.
	 */
	private synchronized boolean endsNow(Outcome outcome, Duration holdTime) {
		this.held = false;
		if (this.lossesBeingTold > 0) {
			this.end = () -> tellEnd(outcome, holdTime);
			return false;
		}
		return true;
	}

	private void tellEnd(Outcome outcome, Duration holdTime) {
		tell((listener) -> listener.released(this.call, outcome, holdTime));
	}

	private List<String> quotedKeys() {
		return this.call.keys().stream().map(LockException::quote).toList();
	}

	private String withTokens() {
		return switch (this.tokens.size()) {
			case 0 -> "";
			case 1 -> " with token " + this.tokens.get(0);
			default -> " with tokens " + this.tokens;
		};
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
