package io.github.holdfast.observation;

import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

	private final String phaseName;

	/**
	 * Create a convention.
	 * @param phase the phase to observe
	 */
	public DefaultLockObservationConvention(Phase phase) {
		this.phase = phase;
		this.phaseName = phase.name().toLowerCase(Locale.ROOT);
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext observed && observed.phase() == this.phase;
	}

	@Override
	public String getName() {
		return "holdfast.lock." + this.phaseName;
	}

	@Override
	public String getContextualName(LockObservationContext context) {
		return this.phaseName + " lock " + context.call().name();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return KeyValues.of("lock.name", context.call().name(), "backend", context.call().backend(), "mode",
				context.call().mode().name(), "outcome",
				Objects.requireNonNullElse(context.outcome(), KeyValue.NONE_VALUE));
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		KeyValue digests = new Joined("lock.key.digest", () -> context.call().keys().stream().map(Digest::ofKey));
		return context.fencingTokens().isEmpty() ? KeyValues.of(digests) : KeyValues.of(digests,
				new Joined("lock.token", () -> context.fencingTokens().stream().map(String::valueOf)));
	}

	/**
	 * Meters do not read the value, and digests take time.
	 */
	private record Joined(String getKey, Supplier<Stream<String>> parts) implements KeyValue {

		@Override
		public String getValue() {
			return this.parts.get().collect(Collectors.joining(","));
		}

	}

}
