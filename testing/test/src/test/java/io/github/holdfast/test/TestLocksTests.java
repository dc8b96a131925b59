package io.github.holdfast.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** What the assertions see and refuse, in transactions that no guard keeps right. */
class TestLocksTests {

	private final TestLockBackend backend = new TestLockBackend();

	private final TestLocks locks = new TestLocks(this.backend, "holdfast:");

	private final LockManager manager = new LockManager(() -> this.backend, () -> LockGuard.NONE,
			() -> List.of(this.locks.recorder), (name) -> null, LockSettings.DEFAULT, Duration.ZERO);

	private final LockTemplate template = new LockTemplate(this.manager).withWaitTime(Duration.ofMillis(100));

	private final TransactionTemplate transactions = transactions();

	private TransactionTemplate transactions() {
		NoTransactions manager = new NoTransactions();
		manager.addListener(this.locks.recorder);
		return new TransactionTemplate(manager);
	}

	@Test
	void commitUnderTheLockIsSeen() {
		this.template.run("a", () -> this.transactions.executeWithoutResult((status) -> status.flush()));
		assertThat(this.locks).wasHeldDuringCommit("a").wasHeldDuringEachCommit("a").wasReleasedAfterCommit("a");
	}

	@Test
	void releaseBeforeTheCommitIsSeen() {
		this.transactions.executeWithoutResult((status) -> this.template.run("a", status::flush));
		refused(() -> assertThat(this.locks).wasHeldDuringCommit("a"),
				"Expected lock 'a' to be held during a commit, but it was acquired 1 times: [RELEASED after 0 commits under "
						+ "it]; 1 commits in total");
		refused(() -> assertThat(this.locks).wasReleasedAfterCommit("a"),
				"Expected lock 'a' to be released after a commit, but");
	}

	/** Held before the commit and after it, but not in between. */
	@Test
	@SuppressWarnings("try")
	void gapDuringTheCommitIsSeen() {
		NoTransactions manager = new NoTransactions();
		manager.addListener(this.locks.recorder);
		TransactionTemplate transactions = new TransactionTemplate(manager);
		try (LockTemplate.Scope first = this.template.acquire("a")) {
			assertThat(first).isNotNull();
			manager.duringCommit = () -> {
				first.close();
				this.template.acquire("a");
			};
			transactions.executeWithoutResult((status) -> status.flush());
		}
		assertThat(this.locks).isHeld("a").wasAcquiredTimes("a", 2);
		refused(() -> assertThat(this.locks).wasHeldDuringCommit("a"), "Expected lock 'a' to be held during a commit");
	}

	@Test
	void lockOfAnotherThreadDoesNotCount() {
		try (LockTemplate.Scope scope = this.template.acquire("a")) {
			assertThat(scope).isNotNull();
			CompletableFuture.runAsync(() -> this.transactions.executeWithoutResult((status) -> status.flush())).join();
		}
		refused(() -> assertThat(this.locks).wasHeldDuringCommit("a"), "1 commits in total");
	}

	@Test
	void rollbackIsNoCommit() {
		this.template.run("a", () -> this.transactions.executeWithoutResult((status) -> status.setRollbackOnly()));
		refused(() -> assertThat(this.locks).wasHeldDuringCommit("a"), "0 commits in total");
	}

	@Test
	void failedCommitIsNoCommit() {
		NoTransactions manager = (NoTransactions) this.transactions.getTransactionManager();
		assertThat(manager).isNotNull();
		manager.duringCommit = () -> {
			throw new IllegalStateException("refused");
		};
		assertThatIllegalStateException().isThrownBy(
				() -> this.template.run("a", () -> this.transactions.executeWithoutResult((status) -> status.flush())));
		refused(() -> assertThat(this.locks).wasHeldDuringCommit("a"), "0 commits in total");
	}

	@Test
	void commitWithoutTheLockIsSeen() {
		this.template.run("a", () -> this.transactions.executeWithoutResult((status) -> status.flush()));
		this.transactions.executeWithoutResult((status) -> status.flush());
		assertThat(this.locks).wasHeldDuringCommit("a");
		refused(() -> assertThat(this.locks).wasHeldDuringEachCommit("a"), "2 commits in total");
		this.locks.reset();
		refused(() -> assertThat(this.locks).wasHeldDuringEachCommit("a"), "0 commits in total");
	}

	@Test
	void reentrantCallDoesNotAcquire() {
		this.template.run("a", () -> this.template.run("a", () -> assertThat(this.locks).isHeld("a")));
		assertThat(this.locks).wasAcquiredTimes("a", 1);
		refused(() -> assertThat(this.locks).wasAcquiredTimes("a", 2), "Expected lock 'a' to be acquired 2 times, but");
		refused(() -> assertThat(this.locks).wasNotHeld("a"), "Expected lock 'a' never to be held, but");
		refused(() -> assertThat(this.locks).isHeld("a"), "Expected lock 'a' to be held now, but");
		refused(() -> assertThat(this.locks).wasAcquiredTimes("b", 1),
				"it was never acquired, only [a] were requested; 0 commits in total");
		refused(() -> assertThat(this.locks).wasBusy("a"), "Expected lock 'a' to be busy for the whole wait time, but");
		refused(() -> assertThat(this.locks).wasLost("a"), "Expected lock 'a' to be lost, but");
	}

	@Test
	void busyLockIsWaitedForAndItsHolderNamed() {
		this.locks.makeBusy("a");
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.template.acquire("a"))
			.withMessageContaining("held by ");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> this.locks.makeBusy("a"))
			.withCauseInstanceOf(LockNotAcquiredException.class);
		this.locks.free("a");
		this.template.run("a", () -> assertThat(this.locks).isHeld("a"));
	}

	@Test
	void waiterGetsALockThatBecomesFree() {
		this.locks.makeBusy("a");
		CompletableFuture<Void> waiter = CompletableFuture
			.runAsync(() -> this.template.withWaitTime(Duration.ofSeconds(30))
				.run("a", () -> assertThat(this.locks).isHeld("a")));
		await().until(() -> this.locks.recorder.attempts.contains("a"));
		this.locks.free("a");
		waiter.join();
	}

	@Test
	void storeThatIsDownGrantsNothing() {
		this.locks.takeDown();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.template.acquire("a"));
		this.locks.bringUp();
		this.template.run("a", () -> assertThat(this.locks).isHeld("a"));
	}

	@Test
	void sharedLockHasSeveralHolders() {
		LockTemplate shared = this.template.withMode(LockMode.SHARED);
		shared.run("a", () -> {
			CompletableFuture.runAsync(() -> shared.run("a", () -> assertThat(this.locks).wasAcquiredTimes("a", 2)))
				.join();
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> CompletableFuture.runAsync(() -> this.template.acquire("a")).join())
				.withCauseInstanceOf(LockNotAcquiredException.class);
		});
	}

	@Test
	void locksThatAreHeldStayWhenTheRestIsForgotten() {
		this.template.run("a", () -> {
			this.locks.reset();
			assertThat(this.locks).isHeld("a");
		});
	}

	private static void refused(ThrowingCallable assertion, String message) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion).withMessageContaining(message);
	}

	/** Does nothing but call its listeners. */
	private static final class NoTransactions extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		private transient Runnable duringCommit = () -> {
		};

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.duringCommit.run();
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
