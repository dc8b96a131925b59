package io.github.holdfast.observation;

import java.util.stream.Collectors;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.observation.LockObservationDocumentation.HighCardinalityKeyNames;
import io.github.holdfast.observation.LockObservationDocumentation.LowCardinalityKeyNames;
import io.github.holdfast.store.Digest;

/**
 * What the spans of locked calls say by default. Keys may be secrets, and are told as
 * digests.
 *
 * @since 0.2.0
 */
public class DefaultLockObservationConvention implements LockObservationConvention {

	private final LockObservationDocumentation kind;

	/**
	 * Create a convention.
	 * @param kind what is observed
	 */
	public DefaultLockObservationConvention(LockObservationDocumentation kind) {
		this.kind = kind;
	}

	@Override
	public String getName() {
		return this.kind.getName();
	}

	@Override
	public String getContextualName(LockObservationContext context) {
		return switch (this.kind) {
			case ACQUIRE -> "wait for lock " + context.call().name();
			case HOLD -> "hold lock " + context.call().name();
		};
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return KeyValues.of(LowCardinalityKeyNames.LOCK_NAME.withValue(context.call().name()),
				LowCardinalityKeyNames.BACKEND.withValue(context.call().backend()),
				LowCardinalityKeyNames.MODE.withValue(context.call().mode().name()),
				LowCardinalityKeyNames.OUTCOME.withValue(orNone(context.outcome())),
				LowCardinalityKeyNames.EXCEPTION.withValue(exception(context.getError())));
	}

	private static String exception(@Nullable Throwable error) {
		return (error != null) ? error.getClass().getSimpleName() : KeyValue.NONE_VALUE;
	}

	private static String orNone(@Nullable String value) {
		return (value != null) ? value : KeyValue.NONE_VALUE;
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		String digests = context.call().keys().stream().map(Digest::ofKey).collect(Collectors.joining(","));
		KeyValues values = KeyValues.of(HighCardinalityKeyNames.KEY_DIGEST.withValue(digests));
		return context.tokens().isEmpty() ? values : values.and(HighCardinalityKeyNames.TOKEN
			.withValue(context.tokens().stream().map(String::valueOf).collect(Collectors.joining(","))));
	}

}
