package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * A lock whose body ends before its minimum hold time.
 */
@ExtendWith(OutputCaptureExtension.class)
class MinHoldTimeTests {

	private static final TransactionExecution TRANSACTION = new SimpleTransactionStatus();

	private static final Duration LONG = Duration.ofMinutes(5);

	private static final Duration SHORT = Duration.ofMillis(500);

	private final FakeLockBackend backend = new FakeLockBackend();

	private final AtomicReference<LockListener.Outcome> outcome = new AtomicReference<>();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, () -> List.of(new LockListener() {

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			MinHoldTimeTests.this.outcome.set(outcome);
		}

	}));

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void zeroIsNoMinimum() {
		Duration time = Duration.ofSeconds(30);
		assertThat(new LockSpec.Times(time, time, null, Duration.ZERO).areForTheBody()).isTrue();
		assertThat(new LockSpec.Times(time, time, null, time).areForTheBody()).isFalse();
	}

	@Test
	void lockStaysBehindForTheRestOfTheTime() {
		this.locks.withMinHoldTime(LONG).run("A", () -> {
		});
		assertThat(this.backend.held()).containsExactly("lock:A");
		assertThat(this.backend.renewals).hasValue(1);
		assertThat(this.backend.leases.get(0).remaining()).isBetween(Duration.ofMinutes(4), LONG);
		assertThat(this.outcome).hasValue(LockListener.Outcome.HELD);
	}

	@Test
	void leaseIsShortenedToTheRestOfTheTime() {
		this.locks.withLeaseTime(LONG).withMinHoldTime(Duration.ofMinutes(1)).run("A", () -> {
		});
		assertThat(this.backend.leases.get(0).remaining()).isLessThanOrEqualTo(Duration.ofMinutes(1));
	}

	@Test
	void lockIsReleasedAtTheEndOfTheTimeAndNotBefore() {
		long start = System.nanoTime();
		this.locks.withMinHoldTime(SHORT).run("A", () -> {
		});
		await().untilAsserted(() -> assertThat(this.backend.held()).isEmpty());
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
	}

	@Test
	void lockIsReleasedAtOnceWhenTheBodyTookLonger() {
		this.locks.withMinHoldTime(Duration.ofMillis(1)).run("A", () -> await().pollDelay(SHORT).until(() -> true));
		assertThat(this.backend.held()).isEmpty();
		assertThat(this.backend.renewals).hasValue(0);
		assertThat(this.outcome).hasValue(LockListener.Outcome.RELEASED);
	}

	@Test
	void lockStaysBehindWhenTheBodyFails() {
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.locks.withMinHoldTime(LONG).run("A", () -> {
				throw new IllegalStateException("body");
			}));
		assertThat(this.backend.held()).containsExactly("lock:A");
	}

	@Test
	void everyKeyStaysBehind() {
		this.locks.withMinHoldTime(LONG).execute(List.of("A", "B"), () -> null);
		assertThat(this.backend.held()).containsExactly("lock:A", "lock:B");
	}

	@Test
	void nestedCallForAKeyThatIsHeldDoesNotMakeItStay() {
		this.locks.run("A", () -> this.locks.withMinHoldTime(LONG).run("A", () -> {
		}));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void laterCallOnTheSameThreadIsNotReentrant() {
		this.locks.withMinHoldTime(LONG).run("A", () -> {
		});
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.run("A", () -> {
		})).satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY));
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void keysAreReleasedAtOnceWhenAnotherOneIsBusy() {
		this.backend.grant = (request) -> request.key().equals("lock:A");
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.withMinHoldTime(LONG).acquire(List.of("A", "B")));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void lockIsReleasedAtOnceWhenARuleRefusesIt() {
		LockRule refusing = new LockRule() {

			@Override
			public void acquired(HeldLock lock) {
				throw new IllegalStateException("refused");
			}

		};
		LockTemplate refused = new LockTemplate(() -> this.backend, () -> List.of(refusing));
		try {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> refused.withMinHoldTime(LONG).acquire("A"));
		}
		finally {
			TemplateAccess.close(refused);
		}
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void lossIsThrownAsByARelease() {
		this.backend.renewal = (lease) -> false;
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.withMinHoldTime(LONG).run("A", () -> {
			}));
		assertThat(this.outcome).hasValue(LockListener.Outcome.LOST);
		assertThat(this.backend.held()).as("what this JVM keeps of the lock").isEmpty();
	}

	@Test
	void leaseThatHasRunOutCountsAsLostWhenTheStoreFails() {
		this.backend.renewal = (lease) -> {
			throw new LockBackendException(lease.key(), "store is down", null);
		};
		assertThatExceptionOfType(LockOverlapException.class).isThrownBy(
				() -> this.locks.withMinHoldTime(LONG).run("A", () -> this.backend.remaining = () -> Duration.ZERO));
	}

	@Test
	void storeThatFailsIsAskedAgain(CapturedOutput output) {
		this.backend.renewal = (lease) -> {
			if (this.backend.renewals.get() < 3) {
				throw new LockBackendException(lease.key(), "store is down", null);
			}
			return true;
		};
		this.locks.withLeaseTime(Duration.ofSeconds(5)).withMinHoldTime(LONG).run("A", () -> {
		});
		assertThat(this.outcome).hasValue(LockListener.Outcome.FAILED);
		assertThat(output).contains("Lock 'A' could not be held for its minimum hold time, trying again");
		await().untilAsserted(
				() -> assertThat(this.backend.leases.get(0).remaining()).isGreaterThan(Duration.ofMinutes(4)));
		assertThat(this.backend.held()).containsExactly("lock:A");
	}

	/**
	 * The answer to the renewal would otherwise cut the hold down to the lease time.
	 */
	@Test
	void renewalThatIsUnderWayDoesNotShortenTheTime() throws Exception {
		CountDownLatch renewing = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		AtomicInteger renewals = new AtomicInteger();
		this.backend.renewal = (lease) -> {
			if (renewals.incrementAndGet() == 1) {
				renewing.countDown();
				awaitUninterrupted(answer);
			}
			return true;
		};
		AtomicReference<Thread> caller = new AtomicReference<>();
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
			caller.set(Thread.currentThread());
			this.locks.withLeaseTime(SHORT).withMinHoldTime(LONG).run("A", () -> awaitUninterrupted(renewing));
		});
		renewing.await();
		await().until(() -> call.isDone() || caller.get().getState() == Thread.State.WAITING);
		answer.countDown();
		call.join();
		await().during(SHORT)
			.untilAsserted(() -> assertThat(this.backend.leases.get(0).remaining()).isGreaterThan(SHORT));
	}

	@Test
	void interruptOfTheCallerIsPutAside() {
		this.backend.renewal = (lease) -> !Thread.currentThread().isInterrupted();
		this.locks.withMinHoldTime(LONG).run("A", () -> Thread.currentThread().interrupt());
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.outcome).hasValue(LockListener.Outcome.HELD);
	}

	@Test
	void lockOfAnUnknownOutcomeStaysForTheMinimumHoldTimeIfThatIsLonger() {
		this.locks.withLeaseTime(SHORT)
			.withMinHoldTime(LONG)
			.run("A", () -> LockStack.current().commits().outcomeUnknown(TRANSACTION, true));
		assertThat(this.outcome).hasValue(LockListener.Outcome.KEPT);
		await().untilAsserted(() -> assertThat(this.backend.leases.get(0).remaining()).isGreaterThan(SHORT));
		assertThat(this.backend.held()).containsExactly("lock:A");
	}

	@Test
	void lockOfAnUnknownOutcomeIsNotShortened() {
		this.locks.withLeaseTime(LONG)
			.withMinHoldTime(SHORT)
			.run("A", () -> LockStack.current().commits().outcomeUnknown(TRANSACTION, true));
		await().during(SHORT.multipliedBy(2)).untilAsserted(() -> {
			assertThat(this.backend.renewals).hasValue(0);
			assertThat(this.backend.held()).containsExactly("lock:A");
		});
	}

	@Test
	void shutdownNeitherWaitsForTheTimeNorCutsItShort() {
		Set<Thread> before = renewalThreads();
		this.locks.withMinHoldTime(LONG).run("A", () -> {
		});
		assertThat(TemplateAccess.drain(this.locks).toCompletableFuture()).isDone();
		TemplateAccess.close(this.locks);
		assertThat(this.backend.held()).containsExactly("lock:A");
		await().untilAsserted(() -> assertThat(renewalThreads()).isSubsetOf(before));
	}

	@Test
	void timeThatCannotWorkIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.withMinHoldTime(Duration.ofMillis(-1)))
			.withMessageContaining("Minimum hold time");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.locks.withMaxHoldTime(SHORT).withMinHoldTime(SHORT.plusMillis(1)))
			.withMessageContaining("must not be longer than its maximum hold time");
	}

	private static Set<Thread> renewalThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("holdfast-renewal-"))
			.collect(Collectors.toSet());
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
