package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiFunction;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Times so long that no clock can count them.
 */
@Tag("F59")
class LongTimesTests {

	private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

	private static final Duration TOO_MANY_MILLIS = Duration.ofMillis(Long.MAX_VALUE).plusMillis(1);

	private final FakeLockBackend backend = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, List::of);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	enum Time {

		LEASE("Lease time", LockTemplate::withLeaseTime),

		MIN_HOLD("Minimum hold time", LockTemplate::withMinHoldTime);

		private final String title;

		private final BiFunction<LockTemplate, Duration, LockTemplate> setter;

		Time(String title, BiFunction<LockTemplate, Duration, LockTemplate> setter) {
			this.title = title;
			this.setter = setter;
		}

	}

	@ParameterizedTest
	@EnumSource
	void leaseAndMinimumThatNoClockCanCountAreRefused(Time time) {
		for (Duration duration : new Duration[] { FOREVER, TOO_MANY_MILLIS, Duration.ofDays(106_752) }) {
			assertThatIllegalArgumentException().isThrownBy(() -> time.setter.apply(this.locks, duration))
				.withMessage(time.title + " of lock 'LockTemplate' must not be longer than 106751 days");
		}
	}

	@ParameterizedTest
	@EnumSource
	void longestLeaseAndMinimumAreAccepted(Time time) {
		assertThat(time.setter.apply(this.locks, Duration.ofDays(106_751))).isNotNull();
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "H2" })
	@SuppressWarnings("try")
	void waitAndMaximumMayBeForever(TestBackend backend) {
		backend.application(backend.database().newDatabase()).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			for (Duration forever : new Duration[] { FOREVER, TOO_MANY_MILLIS }) {
				CountDownLatch held = new CountDownLatch(1);
				LockTemplate waiting = locks.withWaitTime(forever).withMaxHoldTime(forever);
				CompletableFuture<Void> other;
				try (LockTemplate.Scope scope = locks.acquire("A")) {
					other = CompletableFuture.runAsync(() -> {
						held.countDown();
						waiting.run("A", () -> {
						});
					});
					held.await();
				}
				assertThat(other).succeedsWithin(Duration.ofSeconds(60));
			}
		});
	}

	@Test
	void messageTellsALongWait() {
		assertThat(new LockNotAcquiredException("A", LockNotAcquiredException.Reason.BUSY, FOREVER, null, null))
			.hasMessageContaining("within " + Long.MAX_VALUE + " ms");
	}

	@ParameterizedTest
	@CsvSource({ "holdfast.lease-time, Lease time of lock 'LockTemplate'",
			"holdfast.locks[stock].lease-time, Lease time", "holdfast.locks[stock].min-hold-time, Minimum hold time" })
	void propertyThatNoClockCanCountFailsTheStart(String property, String message) {
		LockedApplication.local()
			.withPropertyValues(property + "=P106752D")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(message + " must not be longer than 106751 days"));
	}

	@Test
	void purgeAfterATimeThatNoClockCanCountFailsTheStart() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.retention=P106752D")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'holdfast.jdbc.retention'"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "session-timeout", "connection-timeout" })
	void timeThatZooKeeperCannotCountFailsTheStart(String property) {
		LockedApplication.local()
			.withPropertyValues("holdfast.backend=zookeeper", "holdfast.zookeeper.connect-string=127.0.0.1:1",
					"holdfast.zookeeper." + property + "=P25D")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining(
						"LockConfigurationException: 'holdfast.zookeeper." + property + "' is PT600H"));
	}

}
