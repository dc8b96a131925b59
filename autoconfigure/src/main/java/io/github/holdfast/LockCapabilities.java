package io.github.holdfast;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import io.github.holdfast.LockBackend.Capability;

/**
 * What a lock asks of its backend.
 */
final class LockCapabilities {

	private LockCapabilities() {
	}

	static Set<Capability> required(LockSettings settings) {
		if (settings.mode() == LockRequest.Mode.EXCLUSIVE && !settings.fair()) {
			return Set.of();
		}
		Set<Capability> required = EnumSet.noneOf(Capability.class);
		if (settings.mode() != LockRequest.Mode.EXCLUSIVE) {
			required.add(Capability.valueOf(settings.mode().name()));
		}
		if (settings.fair()) {
			required.add(Capability.FAIR);
		}
		return required;
	}

	/**
	 * Check that a backend can do what a lock asks for.
	 * @throws UnsupportedOperationException if it cannot
	 * @throws IllegalArgumentException if nobody could
	 */
	static void check(LockBackend backend, LockSettings settings) {
		if (settings.mode() == LockRequest.Mode.OPTIMISTIC) {
			checkOptimistic(settings);
		}
		Set<Capability> required = required(settings);
		if (!required.isEmpty() && !backend.capabilities().containsAll(required)) {
			throw new UnsupportedOperationException("Lock '" + settings.name() + "' asks for " + required + ", but "
					+ backend + " offers " + backend.capabilities());
		}
	}

	private static void checkOptimistic(LockSettings settings) {
		Duration minHoldTime = settings.minHoldTime();
		if (settings.fair() || settings.maxHoldTime() != null || (minHoldTime != null && !minHoldTime.isZero())) {
			throw new IllegalArgumentException("Lock '" + settings.name() + "' is optimistic, so nothing is held: "
					+ "a fair order and minimum and maximum hold times have no meaning for it");
		}
	}

}
