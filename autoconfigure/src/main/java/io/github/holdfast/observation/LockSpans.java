package io.github.holdfast.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;
import io.github.holdfast.observation.LockObservationDocumentation.Events;

/**
 * Observes locked calls: their wait for the locks, and then the time for which they hold
 * them. What a call does under its locks is observed inside of the latter.
 *
 * @since 0.2.0
 */
public final class LockSpans implements LockListener {

	private static final DefaultLockObservationConvention ACQUIRE = new DefaultLockObservationConvention(
			LockObservationDocumentation.ACQUIRE);

	private static final DefaultLockObservationConvention HOLD = new DefaultLockObservationConvention(
			LockObservationDocumentation.HOLD);

	private final ObservationRegistry registry;

	private final Supplier<@Nullable LockObservationConvention> convention;

	private final Map<Long, Span> spans = new ConcurrentHashMap<>();

	/**
	 * Create an observer.
	 * @param registry where calls are observed, unless it does nothing
	 * @param convention supplies a convention instead of the default one, or {@code null}
	 */
	public LockSpans(ObservationRegistry registry, Supplier<@Nullable LockObservationConvention> convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public void attempted(Call call) {
		if (!this.registry.isNoop()) {
			begin(LockObservationDocumentation.ACQUIRE, ACQUIRE, new LockObservationContext(call, List.of()));
		}
	}

	@Override
	public void acquired(Call call, Duration waitTime) {
		if (end(call, "ACQUIRED", null)) {
			begin(LockObservationDocumentation.HOLD, HOLD, new LockObservationContext(call, tokens(call)));
		}
	}

	private static List<Long> tokens(Call call) {
		if (call.mode() == LockRequest.Mode.OPTIMISTIC) {
			return List.of();
		}
		return LockContext.current()
			.map((lock) -> lock.leases().stream().map(LockLease::token).toList())
			.orElse(List.of());
	}

	@Override
	public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		end(call, reason.name(), cause);
	}

	@Override
	public void lost(Call call, String key, Duration holdTime) {
		event(call, Events.LOST);
	}

	@Override
	public void storeFailed(Call call, Operation operation, Throwable failure) {
		event(call, Events.STORE_FAILED);
	}

	private void event(Call call, Observation.Event event) {
		Span span = this.spans.get(call.id());
		if (span != null) {
			span.observation.event(event);
		}
	}

	@Override
	public void ended(Call call) {
		Span span = this.spans.get(call.id());
		if (span != null) {
			span.closeScope();
		}
	}

	@Override
	public void released(Call call, Outcome outcome, Duration holdTime) {
		end(call, outcome.name(), null);
	}

	private void begin(LockObservationDocumentation kind, DefaultLockObservationConvention byDefault,
			LockObservationContext context) {
		Observation observation = kind.start(this.convention.get(), byDefault, () -> context, this.registry);
		this.spans.put(context.call().id(), new Span(observation, context, observation.openScope()));
	}

	private boolean end(Call call, String outcome, @Nullable Throwable error) {
		Span span = this.spans.remove(call.id());
		if (span == null) {
			return false;
		}
		span.closeScope();
		span.context.outcome(outcome);
		if (error != null) {
			span.observation.error(error);
		}
		span.observation.stop();
		return true;
	}

	/**
	 * An observation that goes on, which is the current one of a thread.
	 */
	private static final class Span {

		private final Observation observation;

		private final LockObservationContext context;

		private final Thread thread = Thread.currentThread();

		private Observation.@Nullable Scope scope;

		private Span(Observation observation, LockObservationContext context, Observation.Scope scope) {
			this.observation = observation;
			this.context = context;
			this.scope = scope;
		}

		/**
		 * Another thread would get what was current in the one that has opened it.
		 */
		private synchronized void closeScope() {
			if (this.scope != null && Thread.currentThread() == this.thread) {
				this.scope.close();
				this.scope = null;
			}
		}

	}

}
