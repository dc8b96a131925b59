package io.github.holdfast.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockGuard.Protection;
import io.github.holdfast.observation.LockObservationContext.Phase;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Scope;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Creates one {@link Observation} for the wait of a call and one for the time for which
 * it holds its locks. Observations of the code under the locks are children of the
 * latter. Losses and failures of the backend are events of the observation that they
 * occur in.
 */
public final class LockObservations implements LockListener {

	private static final DefaultLockObservationConvention ACQUIRE = new DefaultLockObservationConvention(Phase.ACQUIRE);

	private static final DefaultLockObservationConvention HOLD = new DefaultLockObservationConvention(Phase.HOLD);

	private static final Observation.Event LOST = Observation.Event.of("lost", "lock lost");

	private static final Observation.Event BACKEND_FAILURE = Observation.Event.of("failed", "lock backend failed");

	private final ObservationRegistry registry;

	private final Map<Long, Running> running = new ConcurrentHashMap<>();

	/**
	 * Create a listener.
	 * @param registry the registry of the observations
	 */
	public LockObservations(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void onAttempt(Call call) {
		if (!this.registry.isNoop()) {
			start(ACQUIRE, new LockObservationContext(Phase.ACQUIRE, call, List.of()));
		}
	}

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		if (stop(call, "ACQUIRED", null)) {
			start(HOLD, new LockObservationContext(Phase.HOLD, call, tokens(call)));
		}
	}

	/**
	 * The token of a transaction lock would need a query.
	 */
	private static List<Long> tokens(Call call) {
		LockCall lock = LockCall.current();
		return (lock == null || call.mode() == LockMode.OPTIMISTIC || lock.protection() == Protection.TRANSACTION)
				? List.of() : call.keys().stream().map(lock::fencingToken).toList();
	}

	@Override
	public void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		stop(call, reason.name(), cause);
	}

	@Override
	public void onLost(Call call, String key, Duration holdTime) {
		event(call, LOST);
	}

	@Override
	public void onBackendFailure(Call call, Operation operation, Throwable failure) {
		event(call, BACKEND_FAILURE);
	}

	private void event(Call call, Observation.Event event) {
		Running observed = this.running.get(call.id());
		if (observed != null) {
			observed.observation.event(event);
		}
	}

	@Override
	public void onReleased(Call call, Outcome outcome, Duration holdTime) {
		stop(call, outcome.name(), null);
	}

	private void start(DefaultLockObservationConvention convention, LockObservationContext context) {
		Observation observation = Observation.start(null, convention, () -> context, this.registry);
		this.running.put(context.call().id(),
				new Running(observation, context, observation.openScope(), Thread.currentThread()));
	}

	private boolean stop(Call call, String outcome, @Nullable Throwable error) {
		Running observed = this.running.remove(call.id());
		if (observed == null) {
			return false;
		}
		// A scope that another thread closes would leave its own thread in it
		if (observed.thread == Thread.currentThread()) {
			observed.scope.close();
		}
		observed.context.endedWith(outcome);
		if (error != null) {
			observed.observation.error(error);
		}
		observed.observation.stop();
		return true;
	}

	private record Running(Observation observation, LockObservationContext context, Scope scope, Thread thread) {

	}

}
