package io.github.holdfast.observation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.observation.tck.TestObservationRegistryAssert.TestObservationRegistryAssertReturningObservationContextAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.store.GrantedLease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The observations of locked calls, and the meters that they become. */
class LockObservationsTests {

	private static final String ACQUIRE = "holdfast.lock.acquire";

	private static final String HOLD = "holdfast.lock.hold";

	private final FakeBackend backend = new FakeBackend();

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

	private final LockManager manager = manager(this.registry);

	private final LockTemplate locks = new LockTemplate(this.manager).withName("stock");

	private LockManager manager(ObservationRegistry registry) {
		return new LockManager(() -> this.backend, () -> LockGuard.NONE, () -> List.of(new LockObservations(registry)),
				(name) -> null, LockSettings.DEFAULT, Duration.ZERO);
	}

	LockObservationsTests() {
		this.registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.meters));
	}

	@AfterEach
	void close() {
		this.manager.close();
		assertThat(this.registry.getCurrentObservation()).isNull();
		assertThat(active(ACQUIRE) + active(HOLD)).isZero();
	}

	@Test
	void waitAndHoldAreObservedOneAfterTheOther() {
		AtomicReference<Long> token = new AtomicReference<>();
		this.locks.run("A", () -> token.set(LockContext.current().orElseThrow().fencingToken()));
		assertThatObserved(ACQUIRE).hasLowCardinalityKeyValue("lock.name", "stock")
			.hasLowCardinalityKeyValue("backend", "FakeBackend")
			.hasLowCardinalityKeyValue("mode", "EXCLUSIVE")
			.hasLowCardinalityKeyValue("outcome", "ACQUIRED")
			.hasHighCardinalityKeyValue("lock.key.digest", "559aead08264d579")
			.hasContextualNameEqualTo("acquire lock stock")
			.hasBeenStopped();
		assertThatObserved(HOLD).hasLowCardinalityKeyValue("outcome", "RELEASED")
			.hasHighCardinalityKeyValue("lock.token", String.valueOf(token.get()))
			.hasContextualNameEqualTo("hold lock stock")
			.hasBeenStopped();
		assertThat(this.meters.get(ACQUIRE).tags("outcome", "ACQUIRED").timer().count()).isOne();
		assertThat(this.meters.get(HOLD).tags("outcome", "RELEASED").timer().count()).isOne();
	}

	@Test
	void bodyIsObservedInsideOfTheHoldAndANestedCallInsideOfTheOuterOne() {
		this.locks.run("A", () -> {
			Observation outer = currentObservation();
			assertThat(outer.getContextView().getName()).isEqualTo(HOLD);
			this.locks.run("B",
					() -> assertThat(currentObservation().getContextView().getParentObservation()).isSameAs(outer));
			assertThat(currentObservation()).isSameAs(outer);
		});
	}

	/** A call that hangs has no end that a timer could report. */
	@Test
	void waitsAndHoldsAreCountedWhileTheyLast() throws Exception {
		CountDownLatch granted = new CountDownLatch(1);
		CountDownLatch done = new CountDownLatch(1);
		this.backend.grant = (request) -> granted.await(1, TimeUnit.MINUTES);
		CompletableFuture<Void> call = CompletableFuture
			.runAsync(() -> this.locks.run("A", () -> await().until(() -> done.getCount() == 0)));
		await().until(() -> active(ACQUIRE) == 1);
		assertThat(active(HOLD)).isZero();
		granted.countDown();
		await().until(() -> active(HOLD) == 1);
		assertThat(active(ACQUIRE)).isZero();
		LongTaskTimer hold = this.meters.get(HOLD + ".active").longTaskTimer();
		await().until(() -> hold.max(TimeUnit.MILLISECONDS) > 20);
		done.countDown();
		call.get(1, TimeUnit.MINUTES);
	}

	@Test
	void busyLockIsAnErrorOfTheWait() {
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.withWaitTime(Duration.ZERO).acquire("A"));
		assertThatObserved(ACQUIRE).hasLowCardinalityKeyValue("outcome", "BUSY")
			.thenError()
			.isInstanceOf(LockNotAcquiredException.class);
		assertThat(
				this.meters.get(ACQUIRE).tags("outcome", "BUSY", "error", "LockNotAcquiredException").timer().count())
			.isOne();
	}

	@Test
	void failureOfTheBackendIsAnEvent() {
		this.backend.grant = (request) -> {
			throw new LockBackendException(request.key(), "does not answer", null);
		};
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.locks.acquire("A"));
		assertThatObserved(ACQUIRE).hasLowCardinalityKeyValue("outcome", "BACKEND_FAILURE").hasEvent("failed");
		assertThat(this.meters.get(ACQUIRE + ".failed").counter().count()).isOne();
	}

	@Test
	void lossIsAnEvent() {
		this.backend.released = false;
		assertThatExceptionOfType(LockLostAfterWorkException.class).isThrownBy(() -> this.locks.run("A", () -> {
		}));
		assertThatObserved(HOLD).hasLowCardinalityKeyValue("outcome", "LOST").hasEvent("lost");
		assertThat(this.meters.get(HOLD + ".lost").counter().count()).isOne();
	}

	@Test
	void callThatAnotherThreadClosesLeavesNothingBehind() {
		LockTemplate.Scope scope = this.locks.acquire("A");
		Observation hold = currentObservation();
		CompletableFuture.runAsync(() -> {
			scope.close();
			assertThat(this.registry.getCurrentObservation()).isNull();
		}).join();
		assertThatObserved(HOLD).hasBeenStopped();
		// As documented for scopes of Micrometer: only their own thread can close them
		assertThat(currentObservation()).isSameAs(hold);
		this.registry.setCurrentObservationScope(null);
	}

	@Test
	void meterAlwaysHasTheSameTagsAndNoKey() {
		this.locks.run("A", () -> {
		});
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.withWaitTime(Duration.ZERO).acquire("A"));
		for (String name : List.of(ACQUIRE, ACQUIRE + ".active")) {
			assertThat(this.meters.find(name).meters().stream().map(LockObservationsTests::tagKeys).distinct()).as(name)
				.hasSize(1);
		}
		assertThat(this.meters.getMeters()).flatExtracting((meter) -> meter.getId().getTags())
			.extracting(Tag::getValue)
			.doesNotContain("A", "559aead08264d579")
			.contains("stock", "FakeBackend", "EXCLUSIVE");
	}

	@Test
	void nothingIsObservedInARegistryThatDoesNothing() {
		try (LockManager unobserved = manager(ObservationRegistry.NOOP)) {
			new LockTemplate(unobserved).run("A", () -> assertThat(this.registry.getCurrentObservation()).isNull());
		}
	}

	@Test
	void conventionOfTheApplicationIsUsed() {
		this.registry.observationConfig()
			.observationConvention(new DefaultLockObservationConvention(LockObservationContext.Phase.HOLD) {

				@Override
				public String getName() {
					return "own.hold";
				}

			});
		this.locks.run("A", () -> {
		});
		assertThatObserved("own.hold").hasBeenStopped();
		assertThatObserved(ACQUIRE).hasBeenStopped();
	}

	private static List<String> tagKeys(Meter meter) {
		return meter.getId().getTags().stream().map(Tag::getKey).sorted().toList();
	}

	private int active(String name) {
		return this.meters.find(name + ".active").longTaskTimers().stream().mapToInt(LongTaskTimer::activeTasks).sum();
	}

	private Observation currentObservation() {
		Observation current = this.registry.getCurrentObservation();
		assertThat(current).isNotNull();
		return current;
	}

	private TestObservationRegistryAssertReturningObservationContextAssert assertThatObserved(String name) {
		return TestObservationRegistryAssert.assertThat(this.registry).hasObservationWithNameEqualTo(name).that();
	}

	/** Grants and releases as a test wants it. */
	private static final class FakeBackend implements LockBackend {

		private Grants grant = (request) -> true;

		private boolean released = true;

		private long epoch;

		@Override
		public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
			assertThat(request.mode()).isEqualTo(LockMode.EXCLUSIVE);
			return this.grant.test(request) ? new GrantedLease(++this.epoch, System.nanoTime(), () -> this.released)
					: null;
		}

		private interface Grants {

			boolean test(LockRequest request) throws InterruptedException;

		}

	}

}
