package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Methods that do not return, and locks that are kept for a while after theirs. */
@ExtendWith(OutputCaptureExtension.class)
class HoldTimeTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void othersGetTheLockWhenTheMethodDoesNotReturn(TestDatabase database, CapturedOutput output) {
		TestBackend.valueOf(database.name()).application().withBean(StockService.class).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			LockTemplate locks = context.getBean(LockTemplate.class)
				.withLeaseTime(Duration.ofSeconds(9))
				.withMaxHoldTime(Duration.ofSeconds(4));
			CountDownLatch hangs = new CountDownLatch(1);
			CountDownLatch goesOn = new CountDownLatch(1);
			CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> locks.run("stuck", () -> {
				hangs.countDown();
				await().atMost(PATIENCE).until(() -> goesOn.getCount() == 0);
				transaction.executeWithoutResult((status) -> stock.write("A", 1));
			}), (task) -> new Thread(task).start());
			await().atMost(PATIENCE).until(() -> hangs.getCount() == 0);
			try (LockManager otherNode = new LockManager(
					new JdbcLockBackend(() -> context.getBean(DataSource.class)))) {
				new LockTemplate(otherNode).withWaitTime(Duration.ofSeconds(60))
					.run("stuck", () -> assertThat(stuck).isNotDone());
			}
			await().atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(output).contains("The renewal of lock"));
			goesOn.countDown();
			assertThat(stuck).failsWithin(Duration.ofSeconds(60))
				.withThrowableThat()
				.withCauseInstanceOf(LockLostException.class);
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	/** The hold time begins with the body. */
	@Test
	void firstKeyIsRenewedWhileTheCallWaitsForTheSecond() {
		LeaseCalls calls = new LeaseCalls();
		TestBackend.H2.application().withBean(LeaseCalls.class, () -> calls).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(PATIENCE);
			LockTemplate limited = locks.withLeaseTime(Duration.ofSeconds(3)).withMaxHoldTime(Duration.ofMinutes(10));
			CompletableFuture<Void> both;
			try (LockTemplate.Scope second = locks.withLeaseTime(Duration.ofHours(1)).acquire("second")) {
				assertThat(second).isNotNull();
				both = CompletableFuture.runAsync(() -> limited.acquire(List.of("first", "second")).close());
				await().atMost(PATIENCE).until(() -> calls.count("renew") > 0);
			}
			assertThat(both).succeedsWithin(PATIENCE);
		});
	}

	/** The log must say once why the lock ends, however late the watchdog is. */
	@Test
	void logSaysThatTheRenewalEndsAlthoughTheLastOneWasLate(CapturedOutput output) {
		Duration maxHoldTime = Duration.ofSeconds(2);
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("renew")) {
				waitFor(maxHoldTime.plusMillis(1));
			}
		});
		TestBackend.H2.application().withBean(LeaseCalls.class, () -> calls).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class)
				.withLeaseTime(Duration.ofSeconds(3))
				.withMaxHoldTime(maxHoldTime);
			locks.run("late", () -> {
				await().atMost(PATIENCE)
					.untilAsserted(
							() -> assertThat(output).containsOnlyOnce("The renewal of lock 'holdfast:late' ends"));
				assertThat(calls.count("renew")).isEqualTo(1);
			});
		});
	}

	private static void waitFor(Duration time) {
		long start = System.nanoTime();
		await().atMost(PATIENCE).until(() -> System.nanoTime() - start > time.toNanos());
	}

	@Test
	void localLockWithoutALeaseStaysHeld() {
		String key = "stuck:" + UUID.randomUUID();
		Duration maxHoldTime = Duration.ofMillis(50);
		try (LockManager manager = new LockManager(new LocalLockBackend())) {
			LockTemplate locks = new LockTemplate(manager).withWaitTime(Duration.ZERO);
			locks.withLeaseTime(Duration.ofMillis(30)).withMaxHoldTime(maxHoldTime).run(key, () -> {
				waitFor(maxHoldTime.multipliedBy(4));
				CompletableFuture<Void> other = CompletableFuture.runAsync(() -> locks.acquire(key).close());
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> other.get(60, TimeUnit.SECONDS))
					.withCauseInstanceOf(LockNotAcquiredException.class);
			});
		}
	}

	/** Otherwise it would be renewed for ever. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lockIsGivenBackAlthoughTheStoreFailedWhenItWasToBeKept(TestDatabase database) {
		AtomicBoolean fails = new AtomicBoolean(true);
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("renew") && fails.getAndSet(false)) {
				throw new IllegalStateException("the store failed");
			}
		});
		TestBackend.valueOf(database.name())
			.application()
			.withBean(LeaseCalls.class, () -> calls)
			.withPropertyValues("holdfast.lease-time=10s")
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ofSeconds(60));
				locks.withMinHoldTime(Duration.ofSeconds(1)).run("kept", () -> {
				});
				assertThat(fails).isFalse();
				locks.run("kept", () -> {
				});
				assertThat(calls.owners()).hasSize(2);
			});
	}

	/** The store would keep the lock for the shorter of both times. */
	@Test
	void lockThatIsToBeKeptIsNotRenewedAtTheSameTime() {
		AtomicInteger underWay = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("renew")) {
				most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
				waitFor(Duration.ofSeconds(2));
				underWay.decrementAndGet();
			}
		});
		TestBackend.H2.application()
			.withBean(LeaseCalls.class, () -> calls)
			.withPropertyValues("holdfast.lease-time=3s")
			.run((context) -> context.getBean(LockTemplate.class)
				.withMinHoldTime(Duration.ofMinutes(10))
				.run("kept", () -> assertThat(calls.count("renew")).isZero()));
		assertThat(most).hasValue(1);
	}

	@Test
	void lockThatIsTakenAwayWhileItIsKeptIsFreeForThreadsOfThisJvm() {
		TestBackend.H2.application().withBean(LeaseCalls.class).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			locks.withMinHoldTime(Duration.ofMinutes(10)).run("kept", () -> {
			});
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> locks.acquire("kept"));
			assertThat(context.getBean(LockManager.class).forceRelease("holdfast:kept")).isTrue();
			locks.acquire("kept").close();
		});
	}

	/** The answer would be that the lock is lost. */
	@Test
	void lockIsNotReleasedBeforeTheStoreHasAnsweredThatItIsKept() {
		CountDownLatch released = new CountDownLatch(1);
		AtomicBoolean tooEarly = new AtomicBoolean();
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("release")) {
				released.countDown();
			}
			else if (call.equals("renew") && isOpen(released, 2)) {
				tooEarly.set(true);
			}
		});
		TestBackend.H2.application().withBean(LeaseCalls.class, () -> calls).run((context) -> {
			context.getBean(LockTemplate.class).withMinHoldTime(Duration.ofMillis(100)).run("kept", () -> {
			});
			assertThat(calls.count("renew")).isEqualTo(1);
			assertThat(tooEarly).isFalse();
			assertThat(isOpen(released, 60)).isTrue();
		});
	}

	private static boolean isOpen(CountDownLatch latch, int seconds) {
		try {
			return latch.await(seconds, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void othersAreRenewedWhileTheReleaseBlocks() {
		AtomicBoolean releases = new AtomicBoolean();
		CountDownLatch renewed = new CountDownLatch(1);
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("release") && !releases.getAndSet(true)) {
				await().atMost(Duration.ofSeconds(60)).until(() -> renewed.getCount() == 0);
			}
			else if (call.equals("renew") && releases.get()) {
				renewed.countDown();
			}
		});
		TestBackend.H2.application()
			.withBean(LeaseCalls.class, () -> calls)
			.withPropertyValues("holdfast.lease-time=10s")
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class);
				locks.withMinHoldTime(Duration.ofSeconds(1)).run("kept", () -> {
				});
				locks.run("other", () -> assertThat(renewed.await(50, TimeUnit.SECONDS)).isTrue());
			});
	}

}
