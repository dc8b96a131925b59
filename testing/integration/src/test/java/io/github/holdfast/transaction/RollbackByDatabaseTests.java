package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * MariaDB answers a statement with an error for which it has rolled the whole transaction
 * back, with what it has claimed. The body catches that and goes on.
 */
@Timeout(180)
class RollbackByDatabaseTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	/** Error 1020, where a row has changed since the snapshot. */
	@ParameterizedTest
	@CsvSource({ "OFF", "ON" })
	void noUpdateIsLostAfterARecordHasChanged(String snapshotIsolation) {
		DatabaseAccess access = TestDatabase.MARIADB.newDatabase();
		ApplicationContextRunner node = RedisStore.REDIS
			.application(new DatabaseAccess(
					access.url() + "?sessionVariables=innodb_snapshot_isolation=" + snapshotIsolation, access.user(),
					access.password()), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"holdfast.wait-time=2s")
			.withBean(Stock.class);
		node.run((first) -> node.run((second) -> {
			Stock stock = first.getBean(Stock.class);
			stock.createTable();
			for (int i = 0; i < 3; i++) {
				stock.take(0, () -> {
				}, () -> {
				});
			}
			Sales sales = new Sales();
			boolean[] otherHasSold = new boolean[1];
			Throwable refusal = sales.sell(1, () -> stock.take(1, stock::changeLabelMeanwhile, () -> {
				this.redis.command("FLUSHALL");
				otherHasSold[0] = sales.sellMeanwhile(5, () -> second.getBean(Stock.class).take(5, () -> {
				}, () -> {
				})) == null;
			}));
			assertThat(stock.wasRolledBack()).isEqualTo(snapshotIsolation.equals("ON"));
			assertThat(otherHasSold[0]).isEqualTo(stock.wasRolledBack());
			sales.assertNoneIsLostIn(stock.quantity());
			if (stock.wasRolledBack()) {
				assertThat(refusal).isInstanceOf(PessimisticLockingFailureException.class);
			}
		}));
	}

	/** The database has answered, so the end is known, and the lease is given back. */
	@Test
	void lockIsFreeAfterATriggerHasRefusedTheCommit() {
		LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withBean(StockService.class)
			.withPropertyValues("holdfast.lease-time=10m")
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
						+ "$$ BEGIN RAISE EXCEPTION 'refused'; END $$");
				jdbc.execute("CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON stock "
						+ "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
				LockTemplate locks = context.getBean(LockTemplate.class);
				TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
				assertThatExceptionOfType(RuntimeException.class).isThrownBy(
						() -> locks.run("key", () -> transaction.executeWithoutResult((status) -> stock.write("A", 1))))
					.withStackTraceContaining("refused");
				assertThat(stock.quantity("A")).isEqualTo(100);
				locks.withWaitTime(Duration.ZERO).acquire("key").close();
			});
	}

	static class Stock {

		private final JdbcTemplate jdbc;

		private boolean rolledBack;

		Stock(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		public void createTable() {
			this.jdbc.execute("CREATE TABLE stock (quantity integer NOT NULL, label varchar(10))");
			this.jdbc.update("INSERT INTO stock VALUES (100, '')");
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public void take(int pieces, Runnable whileRead, Runnable whenLabelled) {
			int quantity = quantity();
			whileRead.run();
			try {
				this.jdbc.update("UPDATE stock SET label = 'mine'");
			}
			catch (DataAccessException ex) {
				this.rolledBack = true;
			}
			whenLabelled.run();
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - pieces);
		}

		void changeLabelMeanwhile() {
			CompletableFuture.runAsync(() -> this.jdbc.update("UPDATE stock SET label = 'theirs'")).join();
		}

		public boolean wasRolledBack() {
			return this.rolledBack;
		}

		public int quantity() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

	}

	/** How much of the stock of 100 pieces was sold, by what the callers were told. */
	private static final class Sales {

		private final AtomicInteger pieces = new AtomicInteger();

		private @Nullable Throwable sell(int pieces, Runnable sale) {
			Throwable failure = catchThrowable(sale::run);
			if (failure == null) {
				this.pieces.addAndGet(pieces);
			}
			return failure;
		}

		private @Nullable Throwable sellMeanwhile(int pieces, Runnable sale) {
			return CompletableFuture.supplyAsync(() -> sell(pieces, sale)).orTimeout(60, TimeUnit.SECONDS).join();
		}

		private void assertNoneIsLostIn(int quantity) {
			assertThat(quantity).as("what is left after %s acknowledged sales", this.pieces)
				.isEqualTo(100 - this.pieces.get());
		}

	}

}
