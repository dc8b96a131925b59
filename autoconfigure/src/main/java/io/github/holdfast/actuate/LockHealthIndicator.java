package io.github.holdfast.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.function.Supplier;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import io.github.holdfast.LockBackend;

/**
 * {@link org.springframework.boot.health.contributor.HealthIndicator} of a store of
 * locks. Asks the store without taking a lock. While calls fail at once, as the store is
 * down, it is not asked here, but tells what it has last been asked.
 *
 * @since 0.2.0
 */
public class LockHealthIndicator extends AbstractHealthIndicator {

	private final LockBackend backend;

	private final String probedKey;

	private final Supplier<? extends Enum<?>> commitGuard;

	/**
	 * Create an indicator.
	 * @param backend the store
	 * @param probedKey the stored id of a lock, which is left alone
	 * @param commitGuard supplies the level of the commit guard
	 */
	public LockHealthIndicator(LockBackend backend, String probedKey, Supplier<? extends Enum<?>> commitGuard) {
		super("The lock store could not be asked");
		this.backend = backend;
		this.probedKey = probedKey;
		this.commitGuard = commitGuard;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.withDetail("backend", this.backend.name())
			.withDetail("commitGuard", this.commitGuard.get().name().toLowerCase(Locale.ROOT));
		long start = System.nanoTime();
		Instant asked = Instant.now();
		LockBackend.Status status = this.backend.probe(this.probedKey);
		Duration roundTrip = Duration.ofNanos(System.nanoTime() - start);
		if (status == null) {
			builder.unknown()
				.withDetail("topology", "not asked: no connection was left in this process, or no answer is to be had");
			return;
		}
		builder.up()
			.withDetail("topology", status.topology())
			.withDetail("roundTrip", roundTrip.toNanos() / 1000 + "us");
		Instant time = status.time();
		if (time != null) {
			Duration skew = Duration.between(asked.plus(roundTrip.dividedBy(2)), time);
			builder.withDetail("clockSkew", skew.toMillis() + "ms");
		}
	}

}
