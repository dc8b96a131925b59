package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * How leases are kept alive while a body runs.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("race")
class LockRenewalTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	/** Renewed so seldom that none is under way when a body ends that awaited one. */
	private static final Duration SELDOM = Duration.ofSeconds(2);

	private final FakeLockBackend backend = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, List::of).withLeaseTime(LEASE);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void leaseIsRenewedWhileTheBodyRuns() {
		this.locks.run("A",
				() -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(4)));
		assertThat(this.backend.calls).containsExactly("acquire lock:A", "release lock:A");
	}

	@Test
	void leaseIsStillValidAfterItsFirstTimeIsOver() {
		long start = System.nanoTime();
		this.locks.withLeaseTime(Duration.ofSeconds(2)).run("A", () -> {
			LockContext lock = LockContext.current().orElseThrow();
			await().until(() -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(2100));
			await().until(lock::isValid);
		});
	}

	@Test
	void firstRenewalComesNoEarlierThanAThirdOfTheLease() {
		long start = System.nanoTime();
		this.locks.run("A",
				() -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(0)));
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(LEASE.toNanos() / 3);
	}

	@Test
	void firstRenewalCountsFromTheRequest() {
		this.backend.used = Duration.ofDays(1);
		this.locks.withLeaseTime(Duration.ofDays(1).plusHours(1))
			.run("A", () -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(0)));
	}

	@Test
	void renewalStopsWithTheRelease() {
		this.locks.withLeaseTime(SELDOM)
			.run("A", () -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(0)));
		assertNoMoreRenewals();
	}

	@Test
	void renewalStopsAtTheMaximumHoldTime(CapturedOutput output) {
		this.locks.withMaxHoldTime(Duration.ofMillis(250)).run("A", () -> {
			LockContext lock = LockContext.current().orElseThrow();
			await().until(() -> !lock.isValid());
			await().untilAsserted(() -> assertThat(output).contains("Lock 'A' is no longer renewed"));
		});
		assertThat(output).contains("maximum of 250 ms");
	}

	@Test
	void renewalNeverReachesBeyondTheMaximumHoldTime() {
		Duration max = Duration.ofHours(1);
		// 70 minutes are left, so that the first renewal is due at once
		this.backend.used = Duration.ofMinutes(50);
		this.locks.withLeaseTime(Duration.ofHours(2)).withMaxHoldTime(max).run("A", () -> {
			LockContext lock = LockContext.current().orElseThrow();
			await().untilAsserted(() -> assertThat(lock.remaining()).isLessThanOrEqualTo(max));
			assertThat(this.backend.renewals).hasValue(1);
		});
	}

	@Test
	void renewalThatFailedIsTriedAgain(CapturedOutput output) {
		this.backend.renewal = (lease) -> {
			if (this.backend.renewals.get() < 3) {
				throw new LockBackendException(lease.key(), "store is down", null);
			}
			return true;
		};
		this.locks.run("A",
				() -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(3)));
		assertThat(output).contains("Lock 'A' could not be renewed, trying again");
	}

	@Test
	void renewalThatFailedByAnErrorIsTriedAgain(CapturedOutput output) {
		this.backend.renewal = (lease) -> {
			if (this.backend.renewals.get() < 3) {
				throw new NoClassDefFoundError("fault");
			}
			return true;
		};
		this.locks.run("A",
				() -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(3)));
		assertThat(output).contains("Lock 'A' could not be renewed, trying again");
	}

	@Test
	void lockIsGivenBackWhenItsRenewalCannotStart() {
		this.backend.remaining = () -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.locks.acquire("A"));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void leaseMayBeAsLongAsNanosecondsCanCount() {
		boolean held = this.locks.withLeaseTime(Duration.ofDays(106_751))
			.execute("A", () -> LockContext.current().isPresent());
		assertThat(held).isTrue();
	}

	@Test
	void leaseThatTheStoreDoesNotRenewIsReportedLostAndNoLongerRenewed(CapturedOutput output) {
		this.backend.renewal = (lease) -> false;
		this.backend.release = (lease) -> false;
		assertThatExceptionOfType(LockOverlapException.class).isThrownBy(() -> this.locks.run("A", () -> {
			LockContext lock = LockContext.current().orElseThrow();
			await().until(() -> !lock.isValid());
			await().during(LEASE).until(() -> this.backend.renewals.get() == 1);
			await().untilAsserted(() -> assertThat(output).contains("Lock 'A' was lost after"));
		}));
	}

	@Test
	void lockThatDoesNotRunOutIsNotRenewed() {
		this.backend.expiring = false;
		this.locks.run("A", () -> await().during(LEASE).until(() -> this.backend.renewals.get() == 0));
		assertThat(this.backend.renewals).hasValue(0);
	}

	@Test
	void everyKeyOfACallIsRenewed() {
		List<String> renewed = new CopyOnWriteArrayList<>();
		this.backend.renewal = (lease) -> renewed.add(lease.key());
		this.locks.execute(List.of("A", "B"), () -> {
			await().untilAsserted(() -> assertThat(renewed).contains("lock:A", "lock:B"));
			return null;
		});
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void nestedCallForTheSameKeyDoesNotRenewTwice() {
		this.backend.grant = (request) -> true;
		LockTemplate seldom = this.locks.withLeaseTime(SELDOM);
		seldom.run("A", () -> seldom.run("A",
				() -> await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThan(0))));
		assertNoMoreRenewals();
	}

	@Test
	void manyLeasesShareAFewThreads() {
		List<String> keys = IntStream.range(0, 1000).mapToObj((i) -> "key-" + i).toList();
		Set<Thread> before = renewalThreads();
		this.locks.withLeaseTime(Duration.ofSeconds(3)).execute(keys, () -> {
			await().untilAsserted(() -> assertThat(this.backend.renewals).hasValueGreaterThanOrEqualTo(1000));
			assertThat(renewalThreads()).filteredOn((thread) -> !before.contains(thread)).hasSizeBetween(1, 4);
			return null;
		});
	}

	@Test
	void statementThatHangsDoesNotStallOtherLeases() {
		CountDownLatch over = new CountDownLatch(1);
		AtomicInteger others = new AtomicInteger();
		this.backend.renewal = (lease) -> {
			if (lease.key().equals("lock:A")) {
				try {
					return over.await(10, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					return false;
				}
			}
			others.incrementAndGet();
			return true;
		};
		this.locks.execute(List.of("A", "B"), () -> {
			await().untilAsserted(() -> assertThat(others).hasValueGreaterThan(2));
			over.countDown();
			return null;
		});
		assertThat(this.backend.held()).isEmpty();
	}

	/**
	 * The renewal finds the turn over before it is told that the lease was handed over.
	 */
	@Test
	void leaseThatIsHandedOverIsNotReportedLost(CapturedOutput output) {
		AtomicReference<Thread> renewing = new AtomicReference<>();
		CountDownLatch handedOver = new CountDownLatch(1);
		this.backend.renewal = (lease) -> {
			renewing.set(Thread.currentThread());
			awaitUninterrupted(handedOver);
			return false;
		};
		this.backend.handOver = (lease) -> {
			handedOver.countDown();
			await().until(() -> renewing.get().getState() == Thread.State.BLOCKED || output.getAll().contains("lost"));
			return true;
		};
		this.locks.run("A", () -> await().until(() -> renewing.get() != null));
		assertThat(output).doesNotContain("was lost");
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void assertNoMoreRenewals() {
		Renewals.awaitEnd(this.backend.renewals::get, SELDOM.dividedBy(2));
	}

	private static Set<Thread> renewalThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("holdfast-renewal-"))
			.collect(Collectors.toSet());
	}

}
