package io.github.holdfast.store.local;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lock that does not run out by itself, after a commit with unknown outcome and during
 * shutdown.
 */
class LocalUnknownOutcomeTests {

	private static final TransactionExecution TRANSACTION = new SimpleTransactionStatus();

	@Test
	@Tag("F29")
	void lockIsReleasedAfterItsLeaseTime() {
		Duration leaseTime = Duration.ofMillis(500);
		long start = System.nanoTime();
		LockTemplate locks = new LockTemplate(LocalLockBackend::new, List::of).withLeaseTime(leaseTime);
		try {
			locks.run("local-unknown", () -> LockStack.current().commits().outcomeUnknown(TRANSACTION, true));
			locks.withWaitTime(Duration.ofSeconds(30))
				.run("local-unknown", () -> assertThat(Duration.ofNanos(System.nanoTime() - start))
					.isGreaterThanOrEqualTo(leaseTime));
		}
		finally {
			TemplateAccess.close(locks);
		}
	}

	/**
	 * The next application in this JVM must not be locked out for ever.
	 */
	@Test
	void lockIsReleasedAfterItsLeaseTimeThoughItsTemplateIsClosed() {
		AtomicBoolean entered = new AtomicBoolean();
		LockTemplate closed = new LockTemplate(LocalLockBackend::new, List::of);
		try {
			closed.withLeaseTime(Duration.ofMillis(500))
				.run("local-unknown-closed", () -> LockStack.current().commits().outcomeUnknown(TRANSACTION, true));
		}
		finally {
			TemplateAccess.close(closed);
		}
		LockTemplate locks = new LockTemplate(LocalLockBackend::new, List::of);
		try {
			locks.withWaitTime(Duration.ofSeconds(30)).run("local-unknown-closed", () -> entered.set(true));
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(entered).isTrue();
	}

	@Test
	@Tag("F34")
	void freeLockIsStillGivenWhileDraining() {
		AtomicBoolean entered = new AtomicBoolean();
		LockTemplate locks = new LockTemplate(LocalLockBackend::new, List::of);
		try {
			locks.run("outer", () -> {
				assertThat(TemplateAccess.drain(locks).toCompletableFuture()).isNotDone();
				locks.run("drain-free", () -> entered.set(true));
				CompletableFuture.runAsync(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> locks.run("outer", () -> {
					}))
					.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN)))
					.join();
			});
			assertThat(TemplateAccess.drain(locks).toCompletableFuture()).isDone();
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(entered).isTrue();
	}

}
