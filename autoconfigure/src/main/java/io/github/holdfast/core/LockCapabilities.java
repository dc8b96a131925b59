package io.github.holdfast.core;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackend.Capability;
import io.github.holdfast.LockRequest;

/**
 * What a lock asks of its backend.
 */
public final class LockCapabilities {

	private LockCapabilities() {
	}

	/**
	 * What a lock asks for, beyond exclusive ones in any order.
	 * @param spec the lock
	 * @return the capabilities
	 */
	public static Set<Capability> required(LockSpec spec) {
		if (spec.mode() == LockRequest.Mode.EXCLUSIVE && !spec.fair()) {
			return Set.of();
		}
		Set<Capability> required = EnumSet.noneOf(Capability.class);
		if (spec.mode() != LockRequest.Mode.EXCLUSIVE) {
			required.add(Capability.valueOf(spec.mode().name()));
		}
		if (spec.fair()) {
			required.add(Capability.FAIR);
		}
		return required;
	}

	/**
	 * Check that a backend can do what a lock asks for.
	 * @throws UnsupportedOperationException if it cannot
	 * @throws IllegalArgumentException if nobody could
	 */
	static void check(LockBackend backend, LockSpec spec) {
		if (spec.mode() == LockRequest.Mode.OPTIMISTIC) {
			checkOptimistic(spec);
		}
		Set<Capability> required = required(spec);
		if (!required.isEmpty() && !backend.capabilities().containsAll(required)) {
			throw new UnsupportedOperationException("Lock '" + spec.name() + "' asks for " + required + ", but "
					+ backend + " offers " + backend.capabilities());
		}
	}

	private static void checkOptimistic(LockSpec spec) {
		Duration minHoldTime = spec.times().minHoldTime();
		if (spec.fair() || spec.times().maxHoldTime() != null || (minHoldTime != null && !minHoldTime.isZero())) {
			throw new IllegalArgumentException("Lock '" + spec.name() + "' is optimistic, so nothing is held: "
					+ "a fair order and minimum and maximum hold times have no meaning for it");
		}
	}

}
