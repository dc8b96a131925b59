package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** A thread is interrupted while it waits for a lock, asks the store, or holds it. */
class InterruptTests {

	/**
	 * The network is slow, so that most interrupts come while something is on its way.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void callerThatIsInterruptedWhileTheStoreWorksLeavesNothingBehind(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port());
				HikariDataSource direct = access.dataSource(2);
				HikariDataSource slow = access.onPort(proxy.port()).dataSource(2)) {
			database.createLockTable(direct);
			try (LockManager locksManager = new LockManager(new JdbcLockBackend(() -> slow));
					LockManager otherNodeManager = new LockManager(new JdbcLockBackend(() -> direct))) {
				LockTemplate locks = new LockTemplate(locksManager);
				LockTemplate otherNode = new LockTemplate(otherNodeManager).withWaitTime(Duration.ZERO);
				locks.acquire("warm-up").close();
				proxy.delay(Duration.ofMillis(40));
				for (int i = 0; i < 5; i++) {
					String key = "key-" + i;
					Caller caller = new Caller(locks, key);
					TimeUnit.MILLISECONDS.sleep(25 * i);
					caller.thread.interrupt();
					Throwable outcome = caller.outcome();
					if (outcome != null) {
						assertThat(outcome).isInstanceOf(LockException.class);
						assertThat(caller.interruptedAfterwards).isTrue();
					}
					assertThat(new Caller(otherNode, key).outcome()).as(key).isNull();
				}
			}
		}
	}

	/**
	 * The network is slow, so that the question for the token and the check take time.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void interruptedHolderCommitsOverASlowNetwork(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port())) {
			LockedApplication.jdbc(access.onPort(proxy.port())).withBean(StockService.class).run((context) -> {
				StockService stock = context.getBean(StockService.class);
				Thread holder = new Thread(() -> stock.take("A", () -> {
					proxy.delay(Duration.ofMillis(100));
					Thread.currentThread().interrupt();
					assertThat(LockContext.current().orElseThrow().fencingToken()).isPositive();
					assertThat(Thread.currentThread().isInterrupted()).isTrue();
				}));
				holder.start();
				holder.join(TimeUnit.SECONDS.toMillis(60));
				proxy.delay(Duration.ZERO);
				assertThat(stock.quantity("A")).isEqualTo(99);
			});
		}
	}

	/** Takes a lock on a thread of its own, and gives it back. */
	private static final class Caller {

		private final CompletableFuture<@Nullable Throwable> outcome = new CompletableFuture<>();

		private final Thread thread;

		private volatile boolean interruptedAfterwards;

		private Caller(LockTemplate locks, String key) {
			this.thread = new Thread(() -> {
				Throwable failure = null;
				try {
					locks.acquire(key).close();
				}
				catch (RuntimeException ex) {
					failure = ex;
				}
				this.interruptedAfterwards = Thread.currentThread().isInterrupted();
				this.outcome.complete(failure);
			});
			this.thread.start();
		}

		private @Nullable Throwable outcome() throws Exception {
			return this.outcome.get(60, TimeUnit.SECONDS);
		}

	}

}
