package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationTextPublisher;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.observation.LockMeters;
import io.github.holdfast.observation.LockObservationConvention;
import io.github.holdfast.observation.LockSpans;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Who gets meters, and what they show in an application.
 */
class LockObservationAutoConfigurationTests {

	private static final AutoConfigurations METERS = AutoConfigurations.of(MetricsAutoConfiguration.class,
			CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
			LockObservationAutoConfiguration.class);

	private final ApplicationContextRunner application = LockedApplication.local().withConfiguration(METERS);

	@Test
	void callsAreTimed() {
		this.application.run((context) -> {
			context.getBean(LockTemplate.class).withName("stock").run("A", () -> {
			});
			assertThat(context.getBean(MeterRegistry.class)
				.get("holdfast.locks.acquire")
				.tags("lock.name", "stock", "backend", "local", "outcome", "ACQUIRED")
				.timer()
				.count()).isOne();
		});
	}

	@Test
	void busyLockIsSeenWhileAnotherCallHoldsIt() {
		this.application.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			LockTemplate locks = context.getBean(LockTemplate.class).withName("stock").withWaitTime(Duration.ZERO);
			locks.run("A", () -> {
				CompletableFuture<Void> other = CompletableFuture.runAsync(() -> locks.run("A", () -> {
				}));
				assertThatExceptionOfType(CompletionException.class).isThrownBy(other::join)
					.withCauseInstanceOf(LockNotAcquiredException.class);
				assertThat(registry.get("holdfast.locks.active").gauge().value()).isOne();
			});
			assertThat(registry.get("holdfast.locks.acquire").tags("outcome", "BUSY").timer().count()).isOne();
			assertThat(registry.get("holdfast.locks.active").gauge().value()).isZero();
			assertThat(registry.get("holdfast.locks.pending").gauge().value()).isZero();
		});
	}

	@Test
	void lockThatIsHandedOverInAStoreIsCounted() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withConfiguration(METERS)
			.withPropertyValues("holdfast.handover.max-time=1m")
			.run((context) -> {
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				handOver(context, registry);
				assertThat(registry.get("holdfast.locks.handovers")
					.tags("lock.name", "stock", "backend", "jdbc")
					.counter()
					.count()).isOne();
				assertThat(registry.get("holdfast.locks.hold").tags("outcome", "RELEASED").timer().count())
					.isEqualTo(2);
			});
	}

	private static void handOver(AssertableApplicationContext context, MeterRegistry registry) {
		LockTemplate locks = context.getBean(LockTemplate.class).withName("stock").withWaitTime(Duration.ofMinutes(1));
		AtomicReference<CompletableFuture<Void>> waiter = new AtomicReference<>();
		locks.run("A", () -> {
			waiter.set(CompletableFuture.runAsync(() -> locks.run("A", () -> {
			})));
			await().until(() -> registry.get("holdfast.locks.pending").gauge().value() == 1);
			awaitQueued();
		});
		waiter.get().join();
	}

	/**
	 * The gauge rises just before the thread is in the queue.
	 */
	private static void awaitQueued() {
		await().until(() -> Thread.getAllStackTraces()
			.values()
			.stream()
			.anyMatch((stack) -> List.of(stack).toString().contains("HandoverLockBackend.acquire")
					&& List.of(stack).toString().contains("KeyedPermits.await")));
	}

	@Test
	void thereAreNoMetersWithoutARegistry() {
		LockedApplication.local()
			.withConfiguration(AutoConfigurations.of(LockObservationAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockMeters.class));
	}

	@Test
	void micrometerIsNotNeeded() {
		LockedApplication.local()
			.withConfiguration(AutoConfigurations.of(LockObservationAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(LockTemplate.class).<String, RuntimeException>execute("A", () -> "done"))
					.isEqualTo("done");
			});
	}

	@Test
	void thereAreNoMetersOfLocksThatAreSwitchedOff() {
		this.application.withPropertyValues("holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockMeters.class));
	}

	@Test
	void callsAreObservedWhereSomebodyWantsSpans() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.application.withBean(ObservationRegistry.class, () -> observations)
			.withBean(ObservationTextPublisher.class)
			.run((context) -> {
				context.getBean(LockTemplate.class).withName("stock").run("A", () -> {
				});
				TestObservationRegistryAssert.assertThat(observations)
					.hasObservationWithNameEqualTo("holdfast.lock.hold")
					.that()
					.hasLowCardinalityKeyValue("lock.name", "stock");
			});
	}

	@Test
	void observationsThatWouldOnlyBecomeMetersAreNotMade() {
		this.application.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.run((context) -> assertThat(context).hasSingleBean(LockMeters.class).doesNotHaveBean(LockSpans.class));
	}

	@Test
	void spansSayWhatTheConventionOfTheApplicationSays() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.application.withBean(ObservationRegistry.class, () -> observations)
			.withBean(ObservationTextPublisher.class)
			.withBean(LockObservationConvention.class, TeamConvention::new)
			.run((context) -> {
				context.getBean(LockTemplate.class).withName("stock").run("A", () -> {
				});
				TestObservationRegistryAssert.assertThat(observations)
					.hasNumberOfObservationsWithNameEqualTo("team.lock", 2);
			});
	}

	@Test
	void metersOfTheApplicationAreUsedInstead() {
		LockMeters own = new LockMeters(new SimpleMeterRegistry());
		this.application.withBean("own", LockMeters.class, () -> own)
			.run((context) -> assertThat(context.getBean(LockMeters.class)).isSameAs(own));
	}

	private static final class TeamConvention implements LockObservationConvention {

		@Override
		public String getName() {
			return "team.lock";
		}

	}

}
