package io.github.holdfast.observation;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.GuardedTransaction;
import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the spans of a call tell, and where they begin and end.
 */
class LockSpansTests {

	private static final String ACQUIRE = "holdfast.lock.acquire";

	private static final String HOLD = "holdfast.lock.hold";

	private final FakeLockBackend backend = new FakeLockBackend();

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final LockTemplate locks = new LockTemplate(() -> this.backend,
			() -> List.of(new LockSpans(this.registry, () -> null)))
		.withName("stock");

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
		assertThat(this.registry.getCurrentObservation()).isNull();
	}

	@Test
	void waitAndHoldAreObservedOneAfterTheOther() {
		AtomicReference<Long> token = new AtomicReference<>();
		this.locks.run("A", () -> token.set(LockContext.current().orElseThrow().token()));
		assertThatObserved(ACQUIRE).hasLowCardinalityKeyValue("lock.name", "stock")
			.hasLowCardinalityKeyValue("backend", "FakeLockBackend")
			.hasLowCardinalityKeyValue("mode", "EXCLUSIVE")
			.hasLowCardinalityKeyValue("outcome", "ACQUIRED")
			.hasLowCardinalityKeyValue("exception", KeyValue.NONE_VALUE)
			.hasHighCardinalityKeyValue("lock.key.digest", "559aead08264d579")
			.hasContextualNameEqualTo("wait for lock stock")
			.hasBeenStopped();
		assertThatObserved(HOLD).hasLowCardinalityKeyValue("outcome", "RELEASED")
			.hasHighCardinalityKeyValue("lock.token", String.valueOf(token.get()))
			.hasContextualNameEqualTo("hold lock stock")
			.hasBeenStopped();
	}

	@Test
	void bodyIsObservedInsideOfTheHold() {
		this.locks.run("A", () -> assertThat(currentObservation().getContextView().getName()).isEqualTo(HOLD));
	}

	@Test
	void nestedCallIsObservedInsideOfTheOuterOne() {
		this.locks.run("A", () -> {
			Observation outer = currentObservation();
			this.locks.run("B",
					() -> assertThat(currentObservation().getContextView().getParentObservation()).isSameAs(outer));
			assertThat(currentObservation()).isSameAs(outer);
		});
	}

	@Test
	void waitInVainTellsWhy() {
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("A"));
		assertThatObserved(ACQUIRE).hasLowCardinalityKeyValue("outcome", "BUSY")
			.hasLowCardinalityKeyValue("exception", "LockNotAcquiredException")
			.thenError()
			.isInstanceOf(LockNotAcquiredException.class);
		TestObservationRegistryAssert.assertThat(this.registry).doesNotHaveAnyRemainingCurrentObservation();
	}

	@Test
	void lossIsAnEvent() {
		this.backend.release = (lease) -> false;
		assertThatExceptionOfType(LockOverlapException.class).isThrownBy(() -> this.locks.run("A", () -> {
		}));
		assertThatObserved(HOLD).hasLowCardinalityKeyValue("outcome", "LOST").hasEvent("holdfast.lock.lost");
	}

	@Test
	void holdEndsWithTheAnswerOfTheStoreButIsNotCurrentAnyMore() {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.backend.answer = answer;
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		GuardedTransaction.bodies(this.locks).run("A", GuardedTransaction::commit);
		assertThat(this.registry.getCurrentObservation()).isNull();
		assertThatObserved(HOLD).isNotStopped();
		answer.complete(true);
		await().untilAsserted(() -> assertThatObserved(HOLD).hasBeenStopped());
	}

	@Test
	void nothingIsObservedInARegistryThatDoesNothing() {
		LockTemplate unobserved = new LockTemplate(() -> this.backend,
				() -> List.of(new LockSpans(ObservationRegistry.NOOP, () -> null)));
		unobserved.withWaitTime(Duration.ZERO)
			.run("A", () -> assertThat(this.registry.getCurrentObservation()).isNull());
		TemplateAccess.close(unobserved);
	}

	private Observation currentObservation() {
		Observation current = this.registry.getCurrentObservation();
		assertThat(current).isNotNull();
		return current;
	}

	private TestObservationRegistryAssert.TestObservationRegistryAssertReturningObservationContextAssert assertThatObserved(
			String name) {
		return TestObservationRegistryAssert.assertThat(this.registry).hasObservationWithNameEqualTo(name).that();
	}

}
