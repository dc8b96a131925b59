package io.github.holdfast.observation;

import java.util.Locale;
import java.util.stream.Collectors;

import io.github.holdfast.observation.LockObservationContext.Phase;
import io.github.holdfast.store.Digest;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;

/**
 * Default convention for one phase of locked calls. The observations are named
 * {@code holdfast.lock.acquire} and {@code holdfast.lock.hold}. Meters never contain a
 * key; spans contain a digest of each key. To change names or values, define a bean of a
 * subclass for each phase.
 */
public class DefaultLockObservationConvention implements GlobalObservationConvention<LockObservationContext> {

	private final Phase phase;

	/**
	 * Create a convention.
	 * @param phase the phase to observe
	 */
	public DefaultLockObservationConvention(Phase phase) {
		this.phase = phase;
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext observed && observed.phase() == this.phase;
	}

	@Override
	public String getName() {
		return "holdfast.lock." + phaseName();
	}

	@Override
	public String getContextualName(LockObservationContext context) {
		return phaseName() + " lock " + context.call().name();
	}

	private String phaseName() {
		return this.phase.name().toLowerCase(Locale.ROOT);
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		String outcome = context.outcome();
		return KeyValues.of("lock.name", context.call().name(), "backend", context.call().backend(), "mode",
				context.call().mode().name(), "outcome", (outcome != null) ? outcome : KeyValue.NONE_VALUE);
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		if (context.outcome() == null) {
			// Asked at the start as well, and digests take time
			return KeyValues.empty();
		}
		KeyValues digests = KeyValues.of("lock.key.digest",
				context.call().keys().stream().map(Digest::ofKey).collect(Collectors.joining(",")));
		return context.fencingTokens().isEmpty() ? digests : digests.and("lock.token",
				context.fencingTokens().stream().map(String::valueOf).collect(Collectors.joining(",")));
	}

}
