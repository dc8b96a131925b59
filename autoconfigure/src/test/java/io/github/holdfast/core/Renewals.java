package io.github.holdfast.core;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import static org.awaitility.Awaitility.await;

/**
 * Whether leases are still renewed.
 */
public final class Renewals {

	private Renewals() {
	}

	/**
	 * Wait until there are no more. One that was under way may still end.
	 * @param counted how many there were
	 * @param time longer than from one to the next
	 */
	public static void awaitEnd(LongSupplier counted, Duration time) {
		AtomicLong seen = new AtomicLong(-1);
		await().during(time).until(() -> {
			long renewals = counted.getAsLong();
			return seen.getAndSet(renewals) == renewals;
		});
	}

}
