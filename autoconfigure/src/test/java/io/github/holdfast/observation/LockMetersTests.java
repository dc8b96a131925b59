package io.github.holdfast.observation;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the meters show of each way in which a call can go.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockMetersTests {

	private static final TransactionExecution TRANSACTION = new SimpleTransactionStatus();

	private final FakeLockBackend backend = new FakeLockBackend();

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final LockTemplate locks = new LockTemplate(() -> this.backend,
			() -> List.of(new LockMeters(this.registry)))
		.withName("stock");

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
		await().untilAsserted(() -> {
			assertThat(gauge("pending")).isZero();
			assertThat(gauge("active")).isZero();
		});
	}

	@Test
	void waitAndHoldAreTimed() {
		this.locks.run("A", () -> {
		});
		assertThat(acquire("ACQUIRED", "none").count()).isOne();
		assertThat(acquire("ACQUIRED", "none").totalTime(TimeUnit.NANOSECONDS)).isPositive();
		assertThat(hold("RELEASED").count()).isOne();
		assertThat(hold("RELEASED").totalTime(TimeUnit.NANOSECONDS)).isPositive();
	}

	@Test
	void waitingCallIsPendingAndThenActive() throws Exception {
		CountDownLatch granted = new CountDownLatch(1);
		CountDownLatch done = new CountDownLatch(1);
		this.backend.grant = (request) -> granted.await(1, TimeUnit.MINUTES);
		CompletableFuture<Void> call = CompletableFuture
			.runAsync(() -> this.locks.run("A", () -> await().until(() -> done.getCount() == 0)));
		await().until(() -> gauge("pending") == 1);
		assertThat(gauge("active")).isZero();
		granted.countDown();
		await().until(() -> gauge("active") == 1);
		assertThat(gauge("pending")).isZero();
		done.countDown();
		call.get(1, TimeUnit.MINUTES);
	}

	/**
	 * A call that hangs has no end that a timer could tell.
	 */
	@Test
	void ageOfTheOldestWaitAndHoldIsSeenMeanwhile() {
		CountDownLatch granted = new CountDownLatch(1);
		CountDownLatch done = new CountDownLatch(1);
		this.backend.grant = (request) -> !request.key().endsWith("B") || granted.await(1, TimeUnit.MINUTES);
		assertThat(gauge("active.oldest")).isZero();
		this.locks.run("A", () -> {
			long start = System.nanoTime();
			CompletableFuture<Void> call = CompletableFuture
				.runAsync(() -> this.locks.run("B", () -> await().until(() -> done.getCount() == 0)));
			await().until(() -> gauge("pending.oldest") > 0);
			double before = gauge("pending.oldest");
			await().until(() -> gauge("pending.oldest") > before);
			granted.countDown();
			await().until(() -> gauge("active") == 2);
			assertThat(gauge("pending.oldest")).isZero();
			double elapsed = (System.nanoTime() - start) / 1e9;
			assertThat(gauge("active.oldest")).as("that of A, in seconds").isGreaterThanOrEqualTo(elapsed);
			done.countDown();
			call.join();
		});
		assertThat(gauge("active.oldest")).isZero();
	}

	/**
	 * Whoever is alarmed by busy locks is not by those that are meant to be.
	 */
	@Test
	void callThatIsSkippedOnPurposeIsNotBusy() {
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> TemplateAccess.withSkips(this.locks, true).acquire("A"));
		assertThat(acquire("SKIPPED", "LockNotAcquiredException").count()).isOne();
		assertThat(this.registry.find("holdfast.locks.acquire").tag("outcome", "BUSY").timer()).isNull();
	}

	@Test
	void reasonAndExceptionAreTagsOfAWaitInVain() {
		this.backend.grant = (request) -> false;
		assertRefused(LockNotAcquiredException.class);
		this.backend.grant = (request) -> {
			throw new InterruptedException();
		};
		assertRefused(LockNotAcquiredException.class);
		assertThat(Thread.interrupted()).isTrue();
		this.backend.grant = (request) -> {
			throw new RejectedExecutionException();
		};
		assertRefused(LockNotAcquiredException.class);
		this.backend.grant = (request) -> {
			throw new LockBackendException("A", "does not answer", new IOException());
		};
		assertRefused(LockBackendException.class);
		this.backend.grant = (request) -> false;
		TemplateAccess.drain(this.locks);
		assertRefused(LockNotAcquiredException.class);
		List.of("BUSY", "INTERRUPTED", "QUEUE_FULL", "SHUTDOWN")
			.forEach((reason) -> assertThat(acquire(reason, "LockNotAcquiredException").count()).as(reason).isOne());
		assertThat(acquire("STORE_ERROR", "LockBackendException").count()).isOne();
		assertThat(errors("ACQUIRE", "IOException")).isOne();
	}

	private void assertRefused(Class<? extends Exception> type) {
		assertThatExceptionOfType(type).isThrownBy(() -> this.locks.acquire("A"));
	}

	@Test
	void lockThatIsLostIsCounted() {
		this.backend.release = (lease) -> !lease.key().endsWith("B");
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.execute(List.of("A", "B"), () -> null));
		assertThat(this.registry.get("holdfast.locks.lost").counter().count()).isOne();
		assertThat(hold("LOST").count()).isOne();
	}

	@Test
	void lossesAndErrorsAreThereBeforeTheFirst() {
		this.locks.run("A", () -> {
		});
		assertThat(this.registry.get("holdfast.locks.lost").counter().count()).isZero();
		List.of("ACQUIRE", "RENEW", "RELEASE")
			.forEach((operation) -> assertThat(errors(operation, "none")).as(operation).isZero());
	}

	@Test
	void lockThatIsKeptIsSeen() {
		this.locks.run("A", () -> LockStack.current().commits().outcomeUnknown(TRANSACTION, true));
		assertThat(hold("KEPT").count()).isOne();
	}

	@Test
	void lockThatStaysBehindIsSeen() {
		this.locks.withMinHoldTime(Duration.ofSeconds(10)).run("A", () -> {
		});
		assertThat(hold("HELD").count()).isOne();
	}

	@Test
	void storeThatFailsAtTheReleaseIsSeen() {
		this.backend.release = (lease) -> {
			throw new LockBackendException(lease.key(), "does not answer", null);
		};
		this.locks.run("A", () -> {
		});
		assertThat(hold("FAILED").count()).isOne();
		assertThat(errors("RELEASE", "LockBackendException")).isOne();
	}

	@Test
	void storeThatFailsAtARenewalIsSeen() {
		this.backend.renewal = (lease) -> {
			throw new IllegalStateException("down");
		};
		this.locks.withLeaseTime(Duration.ofSeconds(6))
			.run("A",
					() -> await().until(() -> this.registry.find("holdfast.locks.backend.errors")
						.tags("outcome", "RENEW", "exception", "IllegalStateException")
						.counter() != null));
		assertThat(errors("RENEW", "IllegalStateException")).isPositive();
	}

	@Test
	void conflictOfAnOptimisticLockIsSeen() {
		this.backend.capabilities = Set.of(LockBackend.Capability.OPTIMISTIC);
		this.backend.expiring = false;
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.withMode(LockRequest.Mode.OPTIMISTIC)
				.withWaitTime(Duration.ZERO)
				.run("A", () -> LockStack.current().commits().conflict()));
		assertThat(this.registry.get("holdfast.locks.hold")
			.tags("mode", "OPTIMISTIC", "outcome", "CONFLICT")
			.timer()
			.count()).isOne();
	}

	@Test
	void meterOfANameAlwaysHasTheSameTags() {
		this.locks.run("A", () -> {
		});
		this.backend.grant = (request) -> false;
		assertRefused(LockNotAcquiredException.class);
		this.registry.getMeters()
			.stream()
			.collect(Collectors.groupingBy((meter) -> meter.getId().getName(),
					Collectors.mapping(LockMetersTests::tagKeys, Collectors.toSet())))
			.forEach((name, tags) -> assertThat(tags).as(name).hasSize(1));
		assertThat(this.registry.getMeters()).flatExtracting((meter) -> meter.getId().getTags())
			.extracting(Tag::getValue)
			.doesNotContain("A")
			.contains("stock", "FakeLockBackend", "EXCLUSIVE");
	}

	private static Set<String> tagKeys(Meter meter) {
		return meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toCollection(TreeSet::new));
	}

	@Test
	void namesWithoutEndAreCountedTogether(CapturedOutput output) {
		for (int i = 0; i < 1100; i++) {
			this.locks.withName("stock of " + i).run("A", () -> {
			});
		}
		assertThat(this.registry.find("holdfast.locks.active").gauges()).hasSize(1001);
		assertThat(this.registry.get("holdfast.locks.hold").tag("lock.name", "other").timer().count()).isEqualTo(100);
		assertThat(output.getOut().lines().filter((line) -> line.contains("must not contain its key"))).hasSize(1);
	}

	private double gauge(String name) {
		return this.registry.find("holdfast.locks." + name)
			.gauges()
			.stream()
			.mapToDouble((gauge) -> gauge.value())
			.sum();
	}

	private Timer acquire(String outcome, String exception) {
		return this.registry.get("holdfast.locks.acquire")
			.tags("lock.name", "stock", "backend", "FakeLockBackend", "mode", "EXCLUSIVE", "outcome", outcome,
					"exception", exception)
			.timer();
	}

	private Timer hold(String outcome) {
		return this.registry.get("holdfast.locks.hold")
			.tags("lock.name", "stock", "backend", "FakeLockBackend", "mode", "EXCLUSIVE", "outcome", outcome)
			.timer();
	}

	private double errors(String operation, String exception) {
		return this.registry.get("holdfast.locks.backend.errors")
			.tags("outcome", operation, "exception", exception)
			.counter()
			.count();
	}

}
