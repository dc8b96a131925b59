package io.github.holdfast.observation;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.LockRequest;

/**
 * The meters of one name, backend and mode. Those that an alarm looks at are there from
 * the beginning, as an increase from nothing is none.
 */
final class MetersOfLock {

	private static final String PREFIX = "holdfast.locks.";

	private static final String NONE = "none";

	private final MeterRegistry registry;

	private final LockRequest.Mode mode;

	private final String backend;

	private final Tags tags;

	private final @Nullable MetersOfLock next;

	/** Since when each call waits. */
	private final Map<Long, Long> pending = new ConcurrentHashMap<>();

	/** Since when each call holds its locks. */
	private final Map<Long, Long> active = new ConcurrentHashMap<>();

	private final Timer acquired;

	private final Map<Reason, Map<String, Timer>> notAcquired = new EnumMap<>(Reason.class);

	private final Timer released;

	private final Map<Outcome, Timer> notReleased = new ConcurrentHashMap<>(2);

	private final Map<Operation, Map<String, Counter>> errors = new EnumMap<>(Operation.class);

	private final Counter lost;

	private final Counter handovers;

	MetersOfLock(MeterRegistry registry, String name, Call call, @Nullable MetersOfLock next) {
		this.registry = registry;
		this.mode = call.mode();
		this.backend = call.backend();
		this.next = next;
		this.tags = Tags.of("lock.name", name, "backend", this.backend, "mode", this.mode.name());
		this.acquired = acquireTimer("ACQUIRED", NONE);
		for (Reason reason : Reason.values()) {
			this.notAcquired.put(reason, new ConcurrentHashMap<>(2));
		}
		this.released = holdTimer(Outcome.RELEASED);
		for (Operation operation : Operation.values()) {
			this.errors.put(operation, new ConcurrentHashMap<>(2));
			errorCounter(operation, NONE);
		}
		this.lost = counter("lost", "Locks that were lost while they were held");
		this.handovers = counter("handovers", "Locks that the thread before has handed over");
		gauges("pending", "wait for their locks", this.pending);
		gauges("active", "hold their locks", this.active);
	}

	boolean areFor(Call call) {
		return this.mode == call.mode() && this.backend.equals(call.backend());
	}

	/**
	 * Those of another mode or backend of the name.
	 */
	@Nullable MetersOfLock next() {
		return this.next;
	}

	Counter lost() {
		return this.lost;
	}

	Counter handovers() {
		return this.handovers;
	}

	void attempted(Call call) {
		this.pending.put(call.id(), System.nanoTime());
	}

	void acquired(Call call, Duration waitTime) {
		this.pending.remove(call.id());
		this.active.put(call.id(), System.nanoTime());
		record(this.acquired, waitTime);
	}

	void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		this.pending.remove(call.id());
		Map<String, Timer> timers = Objects.requireNonNull(this.notAcquired.get(reason));
		record(timers.computeIfAbsent(nameOf(cause), (exception) -> acquireTimer(reason.name(), exception)), waitTime);
	}

	/**
	 * What the client of the store has thrown says more than what became of it.
	 */
	void storeFailed(Operation operation, Throwable failure) {
		Throwable cause = (failure instanceof LockBackendException) ? failure.getCause() : null;
		Objects.requireNonNull(this.errors.get(operation))
			.computeIfAbsent(nameOf((cause != null) ? cause : failure),
					(exception) -> errorCounter(operation, exception))
			.increment();
	}

	void released(Call call, Outcome outcome, Duration holdTime) {
		this.active.remove(call.id());
		record((outcome == Outcome.RELEASED) ? this.released
				: this.notReleased.computeIfAbsent(outcome, this::holdTimer), holdTime);
	}

	private static void record(Timer timer, Duration time) {
		timer.record(time.toNanos(), TimeUnit.NANOSECONDS);
	}

	private static String nameOf(Throwable exception) {
		String name = exception.getClass().getSimpleName();
		return name.isEmpty() ? exception.getClass().getName() : name;
	}

	private Timer acquireTimer(String outcome, String exception) {
		return Timer.builder(PREFIX + "acquire")
			.description("How long calls have waited for their locks")
			.tags(this.tags.and("outcome", outcome, "exception", exception))
			.register(this.registry);
	}

	private Timer holdTimer(Outcome outcome) {
		return Timer.builder(PREFIX + "hold")
			.description("How long calls have held their locks")
			.tags(this.tags.and("outcome", outcome.name()))
			.register(this.registry);
	}

	private Counter errorCounter(Operation operation, String exception) {
		return Counter.builder(PREFIX + "backend.errors")
			.description("Requests that the store has not answered, or refused")
			.tags(this.tags.and("outcome", operation.name(), "exception", exception))
			.register(this.registry);
	}

	private Counter counter(String name, String description) {
		return Counter.builder(PREFIX + name).description(description).tags(this.tags).register(this.registry);
	}

	private void gauges(String name, String what, Map<Long, Long> since) {
		Gauge.builder(PREFIX + name, since, Map::size)
			.description("Calls that " + what)
			.tags(this.tags)
			.register(this.registry);
		TimeGauge.builder(PREFIX + name + ".oldest", since, TimeUnit.NANOSECONDS, MetersOfLock::longest)
			.description("How long the first of the calls that " + what + " has done so")
			.tags(this.tags)
			.register(this.registry);
	}

	private static double longest(Map<Long, Long> since) {
		long now = System.nanoTime();
		return since.values().stream().mapToLong((start) -> now - start).max().orElse(0);
	}

}
