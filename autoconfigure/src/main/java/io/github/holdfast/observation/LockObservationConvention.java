package io.github.holdfast.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the spans of locked calls, and tells what they say. A bean of this type replaces
 * {@link DefaultLockObservationConvention}; it should leave their name to that.
 *
 * @since 0.2.0
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext;
	}

}
