package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A listener notes a failure after the rollback. Spring commits that when it cleans up
 * the connection; the lock is held all the time.
 */
@Tag("F51")
@Timeout(180)
class WritesAfterRollbackTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "H2,false", "MARIADB,false", "POSTGRESQL,false", "H2,true", "MARIADB,true", "POSTGRESQL,true" })
	void noteOfAFailureIsKept(TestDatabase database, boolean locked) {
		run(database, (context, other) -> {
			Payments payments = context.getBean(Payments.class);
			for (int i = 1; i <= 3; i++) {
				pay(payments, locked, false);
				assertThatIllegalArgumentException().isThrownBy(() -> pay(payments, locked, true));
				assertThat(payments.notes()).isEqualTo(i);
				assertThat(payments.payments()).isEqualTo(i);
			}
		});
	}

	/**
	 * The transaction that cannot claim is rolled back before the body, which then runs
	 * in another one.
	 */
	@ParameterizedTest
	@EnumSource
	void noteOfAFailureIsKeptIfTheClaimWasRefused(TestDatabase database) {
		run(database, (context, other) -> {
			Payments payments = context.getBean(Payments.class);
			for (int i = 0; i < 3; i++) {
				payments.pay(false);
			}
			try (LockedRow row = new LockedRow(context.getBean(DatabaseAccess.class))) {
				context.getBean(ConfigurableTransactionManager.class).addListener(row);
				context.getBean(RecordingDataSource.class).beforeClaim((connection) -> row.lock());
				assertThatIllegalArgumentException().isThrownBy(() -> payments.pay(true));
				assertThat(row.wasUnlocked).as("claim refused").isTrue();
			}
			assertThat(payments.notes()).isOne();
		});
	}

	/**
	 * The rollback has ended its claim, which is made again before the listeners run.
	 */
	@ParameterizedTest
	@EnumSource
	void nobodyElseGetsTheLockBeforeTheNoteIsCommitted(TestDatabase database) {
		run(database, (context, other) -> {
			Payments payments = context.getBean(Payments.class);
			for (int i = 0; i < 3; i++) {
				payments.pay(false);
			}
			context.getBean(Failures.class).beforeNote(() -> {
				this.redis.command("FLUSHALL");
				assertThatExceptionOfType(CompletionException.class)
					.isThrownBy(() -> CompletableFuture.runAsync(() -> other.getBean(Payments.class).pay(false)).join())
					.withCauseInstanceOf(LockNotAcquiredException.class);
			});
			assertThatIllegalArgumentException().isThrownBy(() -> payments.pay(true));
			assertThat(payments.payments()).isEqualTo(3);
			assertThat(payments.notes()).isOne();
		});
	}

	/**
	 * The documented limit: nobody has the row locked between the rollback and the claim
	 * that is made again. The listener sees what has been committed there.
	 */
	@ParameterizedTest
	@EnumSource
	void earlierHolderMayCommitRightAfterTheRollback(TestDatabase database) {
		run(database, (context, other) -> {
			Payments payments = context.getBean(Payments.class);
			for (int i = 0; i < 3; i++) {
				payments.pay(false);
			}
			CompletableFuture<Void> inTransaction = new CompletableFuture<>();
			CompletableFuture<Void> rolledBack = new CompletableFuture<>();
			// The first call of a node, so it is installed
			CompletableFuture<Void> earlier = CompletableFuture
				.runAsync(() -> other.getBean(Payments.class).payAfter(() -> {
					inTransaction.complete(null);
					join(rolledBack);
				}));
			join(inTransaction);
			this.redis.command("FLUSHALL");
			AtomicInteger claims = new AtomicInteger();
			context.getBean(RecordingDataSource.class).beforeClaim((connection) -> {
				if (claims.incrementAndGet() == 2) {
					rolledBack.complete(null);
					join(earlier);
				}
			});
			List<Integer> seen = new ArrayList<>();
			context.getBean(Failures.class).beforeNote(() -> seen.add(payments.payments()));
			assertThatIllegalArgumentException().isThrownBy(() -> payments.pay(true));
			assertThat(seen).containsExactly(4);
			assertThat(payments.payments()).isEqualTo(4);
			assertThat(payments.notes()).isOne();
		});
	}

	private static void join(CompletableFuture<Void> future) {
		future.orTimeout(60, TimeUnit.SECONDS).join();
	}

	private static void pay(Payments payments, boolean locked, boolean fails) {
		if (locked) {
			payments.pay(fails);
		}
		else {
			payments.payWithoutLock(fails);
		}
	}

	private void run(TestDatabase database, BiConsumer<ApplicationContext, ApplicationContext> test) {
		DatabaseAccess access = database.newDatabase().impatient();
		ApplicationContextRunner node = RedisStore.REDIS.application(access, this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always",
					"holdfast.wait-time=2s")
			.withUserConfiguration(RecordingDataSource.Beans.class)
			.withBean(DatabaseAccess.class, () -> access)
			.withBean(Payments.class)
			.withBean(Failures.class);
		node.run((context) -> {
			context.getBean(Payments.class).createTables();
			node.run((other) -> test.accept(context, other));
		});
	}

	/**
	 * The row of the fence table, which somebody else has locked until a transaction has
	 * been rolled back.
	 */
	private static final class LockedRow implements TransactionExecutionListener, AutoCloseable {

		private final DatabaseAccess access;

		private @Nullable Connection connection;

		private boolean wasUnlocked;

		LockedRow(DatabaseAccess access) {
			this.access = access;
		}

		void lock() {
			try {
				this.connection = DriverManager.getConnection(this.access.url(), this.access.user(),
						this.access.password());
				this.connection.setAutoCommit(false);
				try (Statement statement = this.connection.createStatement()) {
					statement.executeQuery("SELECT epoch FROM holdfast_fence FOR UPDATE");
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
			if (this.connection != null) {
				close();
				this.wasUnlocked = true;
			}
		}

		@Override
		public void close() {
			try {
				if (this.connection != null) {
					this.connection.rollback();
					this.connection.close();
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			this.connection = null;
		}

	}

	record Failed() {
	}

	static class Failures {

		private final JdbcTemplate jdbc;

		private Runnable beforeNote = () -> {
		};

		Failures(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		void beforeNote(Runnable action) {
			this.beforeNote = action;
		}

		@TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK)
		public void note(Failed failed) {
			this.beforeNote.run();
			this.jdbc.update("INSERT INTO note VALUES (1)");
		}

	}

	static class Payments {

		private final JdbcTemplate jdbc;

		private final ApplicationEventPublisher events;

		Payments(JdbcTemplate jdbc, ApplicationEventPublisher events) {
			this.jdbc = jdbc;
			this.events = events;
		}

		public void createTables() {
			this.jdbc.execute("CREATE TABLE payment (number integer)");
			this.jdbc.execute("CREATE TABLE note (number integer)");
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public void pay(boolean fails) {
			payWithoutLock(fails);
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public void payAfter(Runnable action) {
			action.run();
			payWithoutLock(false);
		}

		@Transactional
		public void payWithoutLock(boolean fails) {
			this.jdbc.update("INSERT INTO payment VALUES (1)");
			if (fails) {
				this.events.publishEvent(new Failed());
				throw new IllegalArgumentException("The payment fails");
			}
		}

		public int payments() {
			return count("payment");
		}

		public int notes() {
			return count("note");
		}

		private int count(String table) {
			Integer count = this.jdbc.queryForObject("SELECT count(*) FROM " + table, Integer.class);
			return (count != null) ? count : -1;
		}

	}

}
