package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WaitingCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A transaction belongs to the locks of its begin, and to those that are taken inside of
 * it: it does not commit when one of them has ended.
 */
class LocksOfTransactionTests {

	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scopeThatIsClosedInsideOfItsTransaction(TestDatabase database) {
		run(database, (node) -> {
			LockTemplate.Scope scope = node.locks.acquire("A");
			node.refused(() -> node.transaction.executeWithoutResult((status) -> {
				int quantity = node.quantity();
				scope.close();
				node.takeElsewhere();
				node.write(quantity - 1);
			}));
		});
	}

	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scopeThatIsClosedByAnotherThread(TestDatabase database) {
		run(database, (node) -> {
			try (LockTemplate.Scope scope = node.locks.acquire("A")) {
				node.refused(() -> node.transaction.executeWithoutResult((status) -> {
					int quantity = node.quantity();
					CompletableFuture.runAsync(scope::close).join();
					node.takeElsewhere();
					node.write(quantity - 1);
				}));
			}
		});
	}

	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@SuppressWarnings("try")
	void transactionThatOutlivesItsLock(TestDatabase database) {
		run(database, (node) -> {
			TransactionStatus status;
			int quantity;
			try (LockTemplate.Scope scope = node.locks.acquire("A")) {
				status = node.manager.getTransaction(new DefaultTransactionDefinition());
				quantity = node.quantity();
			}
			node.takeElsewhere();
			node.write(quantity - 1);
			node.refused(() -> node.manager.commit(status));
		});
	}

	/**
	 * The lock of the outer scope is handed over, with the epoch and the owner that the
	 * inner one sees.
	 */
	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scopesThatAreClosedOutOfOrder(TestDatabase database) {
		run(database, (node) -> {
			CountDownLatch read = new CountDownLatch(1);
			CountDownLatch goOn = new CountDownLatch(1);
			LockTemplate.Scope outer = node.locks.acquire("A");
			LockTemplate.Scope inner = node.locks.acquire("A");
			CompletableFuture<Integer> next = WaitingCall
				.start(() -> node.locks.execute("A", () -> node.transaction.execute((status) -> {
					int quantity = node.quantity();
					read.countDown();
					await(goOn);
					node.write(quantity - 1);
					return quantity;
				})));
			try {
				Throwable failure = catchThrowable(() -> node.transaction.executeWithoutResult((status) -> {
					outer.close();
					await(read);
				}));
				assertThat(failure).isInstanceOf(LockLostException.class);
			}
			finally {
				goOn.countDown();
				next.join();
				inner.close();
			}
			assertThat(node.quantity()).isEqualTo(99);
		});
	}

	/**
	 * The transaction begins when the lock has ended that its scope has borrowed.
	 */
	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scopeWhoseLockHasEndedBeforeTheTransaction(TestDatabase database) {
		run(database, (node) -> {
			LockTemplate.Scope outer = node.locks.acquire("A");
			try (LockTemplate.Scope inner = node.locks.acquire("A")) {
				outer.close();
				node.refused(() -> node.transaction.executeWithoutResult((status) -> {
					int quantity = node.quantity();
					node.takeElsewhere();
					node.write(quantity - 1);
				}));
				assertThat(inner).isNotNull();
			}
		});
	}

	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scopeInsideOfAnotherMayEndInsideOfTheTransaction(TestDatabase database) {
		run(database, (node) -> {
			node.locks.run("A", () -> {
				LockTemplate.Scope inner = node.locks.acquire("A");
				node.transaction.executeWithoutResult((status) -> {
					node.write(node.quantity() - 1);
					inner.close();
				});
			});
			assertThat(node.quantity()).isEqualTo(99);
		});
	}

	/**
	 * A commit that was checked says nothing about what comes after it.
	 */
	@Tag("F52")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lossAfterAGuardedCommitIsTold(TestDatabase database) {
		run(database, (node) -> {
			Throwable failure = catchThrowable(() -> node.locks.run("A", () -> {
				node.transaction.executeWithoutResult((status) -> node.jdbc.update("INSERT INTO audit VALUES (1)"));
				CompletableFuture.runAsync(() -> {
					node.jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL");
				}).join();
				node.write(node.quantity() - 1);
			}));
			assertThat(failure).isInstanceOf(LockOverlapException.class);
		});
	}

	/**
	 * As on the thread of a pool on which a scope was left open.
	 */
	@Tag("F52")
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void scopeThatWasLeftOpenIsToldWhenItRefusesCommitsAgain(CapturedOutput output) {
		run(TestDatabase.H2, (node) -> {
			LockTemplate.Scope leaked = node.locks.withName("leaked").acquire("A");
			node.jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL");
			Runnable commit = () -> node.transaction.executeWithoutResult((status) -> node.write(1));
			assertThat(catchThrowable(commit::run)).isInstanceOf(LockLostException.class);
			assertThat(output).doesNotContain("its Scope was left open");
			assertThat(catchThrowable(commit::run)).isInstanceOf(LockLostException.class);
			assertThat(output).contains("Lock 'leaked'", "'A'", "its Scope was left open");
			leaked.close();
			commit.run();
			assertThat(node.quantity()).isOne();
		});
	}

	/**
	 * The database says that nothing was committed.
	 */
	@Tag("F52")
	@Test
	void lockThatIsKeptToARefusedCommitIsFreeAfterIt() {
		LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withPropertyValues("holdfast.on-active-transaction=release-after-completion")
			.run((context) -> {
				Node node = new Node(context);
				node.jdbc.execute("ALTER TABLE audit ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED");
				Throwable failure = catchThrowable(() -> node.transaction.executeWithoutResult((status) -> {
					node.locks.run("A", () -> node.jdbc.update("INSERT INTO audit VALUES (1)"));
					node.jdbc.update("INSERT INTO audit VALUES (1)");
				}));
				assertThat(failure).isInstanceOf(DataIntegrityViolationException.class);
				assertThat(node.locks.withWaitTime(Duration.ZERO).<Boolean, RuntimeException>execute("A", () -> true))
					.isTrue();
			});
	}

	private static void run(TestDatabase database, Check check) {
		LockedApplication.jdbc(database.newDatabase())
			.withPropertyValues("holdfast.handover.max-time=30s", "holdfast.wait-time=30s")
			.run((context) -> check.run(new Node(context)));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private interface Check {

		void run(Node node);

	}

	private static final class Node {

		private final JdbcTemplate jdbc;

		private final LockTemplate locks;

		private final PlatformTransactionManager manager;

		private final TransactionTemplate transaction;

		Node(ApplicationContext context) {
			this.jdbc = context.getBean(JdbcTemplate.class);
			this.locks = context.getBean(LockTemplate.class);
			this.manager = context.getBean(PlatformTransactionManager.class);
			this.transaction = new TransactionTemplate(this.manager);
			this.jdbc.execute("CREATE TABLE stock (quantity integer)");
			this.jdbc.execute("CREATE TABLE audit (id integer)");
			this.jdbc.update("INSERT INTO stock VALUES (100)");
		}

		int quantity() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		void write(int quantity) {
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity);
		}

		void takeElsewhere() {
			CompletableFuture
				.runAsync(() -> this.locks.withWaitTime(Duration.ofSeconds(30))
					.run("A", () -> this.transaction.executeWithoutResult((status) -> write(quantity() - 1))))
				.join();
		}

		/**
		 * The commit is refused, and the other holder's piece is all that is missing.
		 */
		void refused(Runnable call) {
			assertThat(catchThrowable(call::run)).isInstanceOf(LockLostException.class)
				.hasMessageContaining("Lock 'A'")
				.hasMessageContaining("given back");
			assertThat(quantity()).isEqualTo(99);
		}

	}

}
