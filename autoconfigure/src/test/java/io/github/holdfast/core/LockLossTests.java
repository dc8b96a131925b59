package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

/**
 * What the caller is told when a lock turns out to be lost, and when its release is not
 * made or not waited for.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockLossTests {

	private static final TransactionExecution TRANSACTION = new SimpleTransactionStatus();

	private final FakeLockBackend backend = new FakeLockBackend();

	private final AtomicReference<LockListener.Outcome> outcome = new AtomicReference<>();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, () -> List.of(new LockListener() {

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			LockLossTests.this.outcome.set(outcome);
		}

	}));

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	@Tag("F06")
	void lossIsThrownWhenNoCommitWasGuarded() {
		this.backend.release = (lease) -> false;
		assertThatExceptionOfType(LockOverlapException.class).isThrownBy(() -> this.locks.run("A", () -> {
		}))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("A"))
			.withMessageContaining("Lock 'A'")
			.withMessageContaining("overlapped")
			.isNotInstanceOf(ConcurrencyFailureException.class);
		assertThat(this.outcome).hasValue(LockListener.Outcome.LOST);
	}

	@Test
	void lossIsSuppressedInTheExceptionOfTheBody() {
		this.backend.release = (lease) -> false;
		IllegalStateException failure = new IllegalStateException("body");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.locks.run("A", () -> {
			throw failure;
		}))
			.isSameAs(failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockOverlapException.class));
	}

	@Test
	void lossOfOneOfSeveralKeysIsThrownAfterAllAreReleased() {
		this.backend.release = (lease) -> !lease.key().equals("lock:B");
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.execute(List.of("A", "B", "C"), () -> null))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("B"));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void lossAfterAGuardedCommitIsOnlyLogged(CapturedOutput output) {
		this.backend.release = (lease) -> false;
		String result = GuardedTransaction.bodies(this.locks).execute("A", () -> {
			GuardedTransaction.commit();
			return "done";
		});
		assertThat(result).isEqualTo("done");
		assertThat(output).contains("Lock 'A' was already lost when it was released; the commit under it was guarded");
		assertThat(this.outcome).hasValue(LockListener.Outcome.LOST);
	}

	@Test
	void lossThatWasReportedIsNotThrownAgain(CapturedOutput output) {
		this.backend.release = (lease) -> false;
		LockLostException failure = new LockLostException("A", "test", null);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.run("A", () -> {
			heldLock().lossReported();
			throw failure;
		})).isSameAs(failure).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(output).doesNotContain("already lost");
	}

	@Test
	void lockIsKeptWhenTheOutcomeOfACommitIsUnknown(CapturedOutput output) {
		this.locks.run("A", () -> heldLock().commits().outcomeUnknown(TRANSACTION, true));
		assertThat(this.backend.held()).containsExactly("lock:A");
		assertThat(this.outcome).hasValue(LockListener.Outcome.KEPT);
		assertThat(output).contains("Lock 'A' is not released but kept for its lease time");
	}

	@Test
	void lockIsKeptWhenTheOutcomeOfAnotherCommitIsKnown() {
		this.locks.run("A", () -> {
			heldLock().commits().outcomeUnknown(TRANSACTION, true);
			heldLock().commits().outcomeUnknown(new SimpleTransactionStatus(), false);
		});
		assertThat(this.outcome).hasValue(LockListener.Outcome.KEPT);
	}

	@Test
	void lockIsReleasedWhenAnUnknownOutcomeTurnedOutToBeARefusal() {
		this.locks.run("A", () -> {
			heldLock().commits().outcomeUnknown(TRANSACTION, true);
			heldLock().commits().outcomeUnknown(TRANSACTION, false);
		});
		assertThat(this.backend.held()).isEmpty();
	}

	/**
	 * What a body does after a commit that was checked is not protected by it.
	 */
	@Test
	void lossIsThrownWhenTheBodyIsMoreThanAGuardedCommit() {
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		this.backend.release = (lease) -> false;
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.run("A", GuardedTransaction::commit));
		assertThat(this.outcome).hasValue(LockListener.Outcome.LOST);
	}

	@Test
	void releaseIsNotWaitedForAfterAGuardedCommitWhereTheBackendAllowsIt() {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		LockTemplate others = slowRelease(answer);
		try {
			String result = others.execute("A", () -> {
				GuardedTransaction.commit();
				return "done";
			});
			assertThat(result).isEqualTo("done");
			assertThat(answer).isNotDone();
		}
		finally {
			TemplateAccess.close(others);
		}
	}

	@Test
	void lossThatIsAnsweredLateIsLogged(CapturedOutput output) {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		LockTemplate others = slowRelease(answer);
		try {
			others.run("A", () -> GuardedTransaction.commit());
			answer.complete(false);
			await().untilAsserted(() -> assertThat(output).contains("Lock 'A' was already lost when it was released"));
		}
		finally {
			TemplateAccess.close(others);
		}
	}

	@Test
	void failureOfTheReleaseIsToldToListeners() {
		this.backend.release = (lease) -> {
			throw new LockBackendException("A", "store is down", null);
		};
		this.locks.run("A", () -> {
		});
		assertThat(this.outcome).hasValue(LockListener.Outcome.FAILED);
	}

	@Test
	void leaseThatHasRunOutCountsAsLostWhenTheReleaseFails() {
		this.backend.release = (lease) -> {
			throw new LockBackendException("A", "store is down", null);
		};
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.run("A", () -> this.backend.remaining = () -> Duration.ZERO))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("A"));
		assertThat(this.outcome).hasValue(LockListener.Outcome.FAILED);
	}

	@Test
	void shutdownWaitsForTheAnswersOfReleases() {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		LockTemplate locks = slowRelease(answer);
		try {
			locks.execute(List.of("A", "B"), () -> {
				GuardedTransaction.commit();
				return null;
			});
			CompletableFuture<Void> drained = TemplateAccess.drain(locks).toCompletableFuture();
			assertThat(drained).isNotDone();
			answer.completeExceptionally(new LockBackendException("A", "store is down", null));
			await().untilAsserted(() -> assertThat(drained).isCompleted());
		}
		finally {
			TemplateAccess.close(locks);
		}
	}

	@Test
	void bodyDoesNotBeginUnderALeaseThatIsOver() {
		this.backend.used = Duration.ofDays(1);
		this.backend.renewal = (lease) -> false;
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.locks.run("A", () -> fail("The lease was over")))
			.withMessageContaining("its lease was over before the method began");
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void bodyDoesNotBeginWhenOneKeyWasLostWhileAnotherOneWasWaitedFor() {
		this.backend.renewal = (lease) -> false;
		this.backend.grant = (request) -> {
			this.backend.leases.forEach((lease) -> lease.renew(Duration.ofSeconds(1)));
			return true;
		};
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.locks.execute(List.of("A", "B"), () -> fail("A was lost")));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void shutdownWaitsForCallsThatHaveSomeOfTheirKeys() {
		AtomicReference<CompletableFuture<Void>> drained = new AtomicReference<>();
		this.backend.grant = (request) -> {
			if (request.key().equals("lock:B")) {
				drained.set(TemplateAccess.drain(this.locks).toCompletableFuture());
				assertThat(drained.get()).isNotDone();
			}
			return request.key().equals("lock:A");
		};
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.execute(List.of("A", "B"), () -> null));
		assertThat(this.backend.held()).isEmpty();
		assertThat(drained.get()).isCompleted();
	}

	private LockTemplate slowRelease(CompletableFuture<Boolean> answer) {
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		this.backend.answer = answer;
		return GuardedTransaction.bodies(new LockTemplate(() -> this.backend, List::of));
	}

	private static HeldLock heldLock() {
		HeldLock held = LockStack.current();
		assertThat(held).isNotNull();
		return held;
	}

}
