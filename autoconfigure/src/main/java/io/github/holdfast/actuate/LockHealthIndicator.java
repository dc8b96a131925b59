package io.github.holdfast.actuate;

import java.time.Instant;

import io.github.holdfast.LockBackend;
import io.github.holdfast.ManageableLockBackend;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * {@link AbstractHealthIndicator Health indicator} for the lock backend: up if its store
 * answers, unknown if the backend is not a {@link ManageableLockBackend}. A store that
 * hangs delays the answer by the timeout of its client.
 */
public class LockHealthIndicator extends AbstractHealthIndicator {

	private final LockBackend backend;

	private final String commitGuard;

	/**
	 * Create an indicator.
	 * @param backend the backend to check
	 * @param commitGuard the commit guard of the application, for the details
	 */
	public LockHealthIndicator(LockBackend backend, String commitGuard) {
		super("Lock backend health check failed");
		this.backend = backend;
		this.commitGuard = commitGuard;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.withDetail("backend", this.backend.name()).withDetail("commitGuard", this.commitGuard);
		if (this.backend instanceof ManageableLockBackend manageable) {
			ManageableLockBackend.Status status = manageable.ping();
			builder.up().withDetail("topology", status.topology());
			Instant time = status.time();
			if (time != null) {
				builder.withDetail("time", time);
			}
		}
		else {
			builder.unknown();
		}
	}

}
