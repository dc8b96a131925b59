package io.github.holdfast.actuate;

import java.util.concurrent.CompletableFuture;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.actuate.LocksEndpoint.Outcome;
import io.github.holdfast.autoconfigure.HoldfastActuatorAutoConfiguration;
import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.core.LockGuard.Protection;
import io.github.holdfast.observation.LockObservations;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The endpoint {@code locks}, and the health of the backend. */
class LocksEndpointTests {

	private final ApplicationContextRunner local = operated(LockedApplication.local());

	private final ApplicationContextRunner jdbc = operated(LockedApplication.h2());

	private static ApplicationContextRunner operated(ApplicationContextRunner application) {
		return application.withConfiguration(AutoConfigurations.of(HoldfastActuatorAutoConfiguration.class))
			.withPropertyValues("management.endpoints.web.exposure.include=locks");
	}

	@Test
	void heldAndAwaitedLocksAreShown() {
		this.local.run((context) -> {
			LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
			LockTemplate locks = context.getBean(LockTemplate.class).withName("stock");
			CompletableFuture<Void> waiter = locks.execute("A", () -> {
				CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> locks.run("A", () -> {
				}));
				await().until(() -> !endpoint.locks().waiting().isEmpty());
				assertThat(endpoint.locks().held()).singleElement().satisfies((held) -> {
					assertThat(held.name()).isEqualTo("stock");
					assertThat(held.key()).isEqualTo("A");
					assertThat(held.mode()).isEqualTo(LockMode.EXCLUSIVE);
					assertThat(held.thread()).isEqualTo(Thread.currentThread().getName());
					assertThat(held.holdTime()).isPositive();
				});
				assertThat(endpoint.lock(new String[] { "A" }).waiting()).hasSize(1);
				assertThat(endpoint.lock(new String[] { "B" }).waiting()).isEmpty();
				return waiting;
			});
			waiter.join();
			assertThat(endpoint.locks().held()).isEmpty();
			assertThat(endpoint.locks().waiting()).isEmpty();
		});
	}

	@Test
	void holderInTheStoreIsShownAndLosesItsLock() {
		this.jdbc.run((context) -> {
			LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
			String[] key = { "a", "b" };
			assertThat(endpoint.lock(key).holder()).isNull();
			assertThat(endpoint.forceRelease(key).outcome()).isEqualTo(Outcome.NOT_HELD);
			assertThatExceptionOfType(LockLostAfterWorkException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).run("a/b", () -> {
					assertThat(endpoint.lock(key).key()).isEqualTo("a/b");
					assertThat(endpoint.lock(key).holder()).isNotNull();
					assertThat(endpoint.forceRelease(key).outcome()).isEqualTo(Outcome.RELEASED);
					assertThat(endpoint.lock(key).holder()).isNull();
				}));
		});
	}

	@Test
	void protectionOfEachMethodIsShown() {
		this.jdbc.withBean(Stock.class)
			.run((context) -> assertThat(context.getBean(LocksEndpoint.class).locks().protections())
				.containsEntry("LocksEndpointTests.Stock.deduct()", Protection.TRANSACTION)
				.containsEntry("LocksEndpointTests.Stock.report()", Protection.INSTALLED)
				.containsEntry("LocksEndpointTests.Stock.read()", Protection.INSTALLED));
		this.local.withBean(Stock.class)
			.run((context) -> assertThat(context.getBean(LocksEndpoint.class).locks().protections().values())
				.containsOnly(Protection.LEASE));
	}

	static class Stock {

		@DistributedLock(key = "'stock'", name = "stock")
		@Transactional
		public void deduct() {
		}

		@DistributedLock(key = "'stock'", name = "stock")
		public void report() {
		}

		@DistributedLock(key = "'stock'", name = "stock")
		@Transactional(readOnly = true)
		public void read() {
		}

	}

	@Test
	void backendThatCannotTakeLocksAwayIsShown() {
		operated(LockedApplication.empty()).withBean(LockBackend.class, () -> (request) -> null).run((context) -> {
			assertThat(context.getBean(LocksEndpoint.class).forceRelease(new String[] { "A" }).outcome())
				.isEqualTo(Outcome.NOT_SUPPORTED);
			assertThat(context.getBean(LockHealthIndicator.class).health().getStatus()).isEqualTo(Status.UNKNOWN);
		});
	}

	@Test
	void healthIsUpWhileTheStoreAnswers() {
		this.jdbc.run((context) -> {
			LockHealthIndicator health = context.getBean(LockHealthIndicator.class);
			assertThat(health.health().getStatus()).isEqualTo(Status.UP);
			assertThat(health.health().getDetails()).containsEntry("backend", "jdbc")
				.containsEntry("commitGuard", "FENCE")
				.containsKey("topology");
		});
	}

	@Test
	void healthIsDownIfTheStoreDoesNotAnswer() {
		this.jdbc
			.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/none",
					"spring.datasource.hikari.connection-timeout=250")
			.run((context) -> assertThat(context.getBean(LockHealthIndicator.class).health().getStatus())
				.isEqualTo(Status.DOWN));
	}

	@Test
	void nothingIsThereWithoutLocks() {
		this.local.withPropertyValues("holdfast.enabled=false")
			.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LocksEndpoint.class)
				.doesNotHaveBean(LockHealthIndicator.class)
				.doesNotHaveBean(LockObservations.class));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(HoldfastActuatorAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LocksEndpoint.class));
	}

	@Test
	void endpointAndHealthCanBeSwitchedOff() {
		this.local
			.withPropertyValues("management.endpoints.web.exposure.include=",
					"management.health.holdfast.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LocksEndpoint.class)
				.doesNotHaveBean(LockHealthIndicator.class));
	}

	@Test
	void callsAreObservedInTheRegistryOfTheApplication() {
		this.local.run((context) -> assertThat(context).doesNotHaveBean(LockObservations.class));
		this.local.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.run((context) -> assertThat(context).hasSingleBean(LockObservations.class));
	}

}
