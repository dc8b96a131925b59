package io.github.holdfast.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.core.NestedExceptionUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.DaemonThreads;

/**
 * {@link org.springframework.boot.health.contributor.HealthIndicator} of a store of
 * locks. Asks the store without taking a lock, and waits for its answer for five seconds
 * at most. A store that hangs is asked once by all who want to know, and who comes later
 * waits for the rest of that time only.
 *
 * @since 0.2.0
 */
public class LockHealthIndicator extends AbstractHealthIndicator {

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final LockBackend backend;

	private final String probedKey;

	private final Supplier<? extends Enum<?>> commitGuard;

	private final ExecutorService thread = DaemonThreads.scheduler("holdfast-health", 1);

	private @Nullable Future<Answer> question;

	/** When it was put. */
	private volatile long asked;

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
		Answer answer;
		try {
			answer = answer();
		}
		catch (LockBackendException ex) {
			builder.down(ex).withDetail("cause", NestedExceptionUtils.getMostSpecificCause(ex).toString());
			return;
		}
		LockBackend.Status status = answer.status();
		if (status == null) {
			builder.unknown()
				.withDetail("topology", "not asked: no connection was left in this process, or no answer is to be had");
			return;
		}
		builder.up()
			.withDetail("topology", status.topology())
			.withDetail("roundTrip", answer.roundTrip().toNanos() / 1000 + "us");
		Instant time = status.time();
		if (time != null) {
			Duration skew = Duration.between(answer.asked().plus(answer.roundTrip().dividedBy(2)), time);
			builder.withDetail("clockSkew", skew.toMillis() + "ms");
		}
	}

	/**
	 * Whether the store answers, for a gauge. Waits as {@link #health()} does.
	 * @return 1 if it does, 0 if it does not, {@link Double#NaN} if that is not known
	 */
	public double up() {
		try {
			return (answer().status() != null) ? 1 : Double.NaN;
		}
		catch (LockBackendException ex) {
			return 0;
		}
	}

	private synchronized Future<Answer> question() {
		if (this.question == null || this.question.isDone()) {
			this.asked = System.nanoTime();
			this.question = this.thread.submit(this::ask);
		}
		return this.question;
	}

	private Answer ask() {
		long start = System.nanoTime();
		Instant asked = Instant.now();
		LockBackend.Status status = this.backend.probe(this.probedKey);
		return new Answer(status, asked, Duration.ofNanos(System.nanoTime() - start));
	}

	private Answer answer() {
		try {
			Future<Answer> question = question();
			return question.get(PATIENCE.toNanos() - (System.nanoTime() - this.asked), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof LockBackendException failure) ? failure
					: new LockBackendException(this.probedKey, "could not be asked for", ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new LockBackendException(this.probedKey, "there was no answer within " + PATIENCE.toMillis()
					+ " ms, so the store hangs, or no connection is left in this process", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockBackendException(this.probedKey, "could not be asked for, the thread was interrupted", ex);
		}
	}

	/**
	 * What the store has told.
	 *
	 * @param status what is known, if anything
	 * @param asked when it was asked, by the clock of this node
	 * @param roundTrip how long the answer took
	 */
	private record Answer(LockBackend.@Nullable Status status, Instant asked, Duration roundTrip) {

	}

}
