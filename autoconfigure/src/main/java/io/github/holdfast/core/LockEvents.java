package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
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

	private static final int MOST_TO_BE_TOLD = 1000;

	private static final AtomicLong CALLS = new AtomicLong();

	private final List<LockListener> listeners;

	private final LockListener.Call call;

	private final boolean skips;

	private final long start = System.nanoTime();

	private @Nullable Set<String> lost;

	/** Only if the log is to tell them. */
	private List<Long> tokens = List.of();

	private volatile long acquisition;

	private State state = State.ATTEMPTED;

	/** Whether the thread of all calls has told something, or is about to. */
	private boolean toldElsewhere;

	private final @Nullable ScheduledThreadPoolExecutor thread;

	private LockEvents(List<LockListener> listeners, LockListener.Call call, boolean skips,
			@Nullable ScheduledThreadPoolExecutor thread) {
		this.listeners = listeners;
		this.call = call;
		this.skips = skips;
		this.thread = thread;
	}

	/**
	 * The events of a call of this thread that is about to ask for keys.
	 */
	static LockEvents of(LockSpec spec, List<String> keys, String backend, List<LockListener> listeners,
			@Nullable ScheduledThreadPoolExecutor thread) {
		return new LockEvents(listeners, new LockListener.Call(CALLS.incrementAndGet(), spec.name(), keys, spec.mode(),
				backend, spec.keyPrefix(), keys.isEmpty() ? List.of() : held()), spec.skips(), thread);
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

	/**
	 * Note that the call goes on, although its transaction still has to take its locks.
	 */
	void pending() {
		this.acquisition = System.nanoTime();
	}

	/**
	 * Whether an acquisition has been told of whose end has not.
	 */
	boolean areOpen() {
		return this.state == State.ATTEMPTED;
	}

	/**
	 * Whether it has been told that the locks are held, or were.
	 */
	boolean areAcquired() {
		return this.state == State.HELD || this.state == State.ENDED;
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
			this.state = State.HELD;
		}
	}

	void notAcquired(Throwable cause) {
		this.state = State.NOT_ACQUIRED;
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

	private Reason reason(Throwable cause) {
		if (!(cause instanceof LockNotAcquiredException ex)) {
			return Reason.STORE_ERROR;
		}
		return switch (ex.reason()) {
			case BUSY, CONFLICT -> this.skips ? Reason.SKIPPED : Reason.BUSY;
			case INTERRUPTED -> Reason.INTERRUPTED;
			case SHUTDOWN -> Reason.SHUTDOWN;
			case QUEUE_FULL -> Reason.QUEUE_FULL;
		};
	}

	void storeFailed(Operation operation, Throwable failure) {
		tell((listener) -> listener.storeFailed(this.call, operation, failure));
	}

	void renewalFailed(Throwable failure) {
		tellLater((listener) -> listener.storeFailed(this.call, Operation.RENEW, failure));
	}

	/**
	 * Tell of a loss, which may be found more than once. One that is found before all
	 * locks are held is found again at the end, if the call begins at all.
	 */
	void lost(String key) {
		Duration holdTime = holdTime();
		if (isNewLoss(key)) {
			tell((listener) -> listener.lost(this.call, key, holdTime));
		}
	}

	/**
	 * Tell of a loss that a renewal has found.
	 */
	synchronized void lostMeanwhile(String key) {
		Duration holdTime = holdTime();
		if (isNewLoss(key)) {
			tellLater((listener) -> listener.lost(this.call, key, holdTime));
		}
	}

	private synchronized boolean isNewLoss(String key) {
		if (this.lost == null) {
			this.lost = new HashSet<>(2);
		}
		return this.state == State.HELD && this.lost.add(key);
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
		Executor thread = end() ? thread() : Runnable::run;
		thread.execute(() -> tell((listener) -> listener.released(this.call, outcome, holdTime)));
	}

	/**
	 * Nothing is found from now on.
	 * @return whether the end has to be told after something else
	 */
	private synchronized boolean end() {
		this.state = State.ENDED;
		return this.toldElsewhere;
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

	/**
	 * The thread that tells what no call waits for: a listener may block, and those that
	 * renew leases, or get the answers of a store, must not.
	 */
	Executor thread() {
		return (this.thread != null) ? this.thread : Runnable::run;
	}

	/**
	 * Whether so much is to be told that calls had better tell of their own releases.
	 */
	boolean areLate() {
		return this.thread != null && this.thread.getQueue().size() > MOST_TO_BE_TOLD;
	}

	private synchronized void tellLater(Consumer<LockListener> event) {
		this.toldElsewhere = true;
		thread().execute(() -> tell(event));
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

	/**
	 * What the listeners know of a call.
	 */
	private enum State {

		/** It asks for its locks. */
		ATTEMPTED,

		/** It has not got them. */
		NOT_ACQUIRED,

		/** It has them. */
		HELD,

		/** It has given them back. */
		ENDED

	}

}
