package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.store.jdbc.JdbcLockPurge;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A holder was away for so long that its row has been purged, and wants to commit.
 */
class PurgedHolderTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderWhoseRowWasPurgedCannotCommit(TestDatabase database) {
		run(database, (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.withoutTransaction("A", () -> {
				onOtherThread(() -> purge(context));
				stock.take("A", () -> {
				});
			}));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderWhoseRowWasPurgedAndTakenAgainCannotCommit(TestDatabase database) {
		run(database, (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.withoutTransaction("A", () -> {
				onOtherThread(() -> {
					purge(context);
					takeOnOtherNode(context);
				});
				stock.take("A", () -> {
				});
			}));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	private static void run(TestDatabase database, Consumer<ApplicationContext> test) {
		LockedApplication.jdbc(database.newDatabase()).withBean(StockService.class).run(test::accept);
	}

	private static void purge(ApplicationContext context) {
		DataSource dataSource = context.getBean(DataSource.class);
		long twoDays = TimeUnit.DAYS.toMicros(2);
		new JdbcTemplate(dataSource).update("UPDATE holdfast_lock SET epoch = epoch - ?, expires_at = expires_at - ?",
				twoDays, twoDays);
		try {
			new JdbcLockPurge(() -> dataSource, Duration.ofDays(1)).run(() -> true);
			assertThat(new JdbcTemplate(dataSource).queryForObject("SELECT count(*) FROM holdfast_lock", Integer.class))
				.isZero();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void takeOnOtherNode(ApplicationContext context) {
		StockService stock = context.getBean(StockService.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		try (GuardedNode otherNode = LockPlace.BUSINESS_DATABASE.newNode(context)) {
			otherNode.locks()
				.run("stock:A",
						() -> transaction.executeWithoutResult((status) -> stock.write("A", stock.quantity("A") - 1)));
		}
	}

	private static void onOtherThread(Runnable work) {
		CompletableFuture.runAsync(work).join();
	}

}
