package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node that sells one piece after the other until its standard input says that it is
 * enough. Takes its time, and tells so, after reading and between check and COMMIT.
 */
final class SalesWorker {

	static final Duration LEASE_TIME = Duration.ofMillis(500);

	private final CommitGuardLevel level;

	private final HikariDataSource business;

	private final HikariDataSource locks;

	private SalesWorker(CommitGuardLevel level, HikariDataSource business, HikariDataSource locks) {
		this.level = level;
		this.business = business;
		this.locks = locks;
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		try (HikariDataSource business = new DatabaseAccess(args[1], args[2], args[3]).dataSource(4);
				HikariDataSource locks = new DatabaseAccess(args[4], args[5], args[6]).dataSource(4)) {
			SalesWorker worker = new SalesWorker(CommitGuardLevel.valueOf(args[0]), business, locks);
			Thread sales = new Thread(worker::sell);
			sales.setDaemon(true);
			sales.start();
			input.readLine();
			sales.interrupt();
			sales.join();
			System.out.println("ENDED");
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void sell() {
		JdbcTransactionManager manager = new JdbcTransactionManager(this.business);
		new CommitGuardPostProcessor(() -> this.level, () -> LockPlace.OTHER_DATABASE.fence(this.business))
			.postProcessAfterInitialization(manager, "transactionManager");
		manager.addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				takeTime("CHECKED");
			}

		});
		TransactionTemplate transaction = new TransactionTemplate(manager);
		try (LockTemplate template = new LockTemplate(this::backend, List::of)) {
			LockTemplate shortLease = template.withLeaseTime(LEASE_TIME).withWaitTime(Duration.ofSeconds(60));
			while (!Thread.currentThread().isInterrupted()) {
				try {
					shortLease.run("stock:A", () -> transaction.executeWithoutResult((status) -> sellOne()));
				}
				catch (RuntimeException ex) {
					System.out.println(((ex instanceof LockException) ? "REJECTED " : "FAILED ") + ex);
				}
			}
		}
	}

	private LockBackend backend() {
		LockBackend store = new JdbcLockBackend(() -> this.locks);
		return (this.level == CommitGuardLevel.FENCE) ? LockPlace.OTHER_DATABASE.backend(store, this.business) : store;
	}

	private void sellOne() {
		JdbcTemplate jdbc = new JdbcTemplate(this.business);
		Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
		takeTime("READ");
		jdbc.update("UPDATE stock SET quantity = ?", (quantity != null) ? quantity - 1 : -1);
		jdbc.update("INSERT INTO sale VALUES (1)");
	}

	private static void takeTime(String point) {
		System.out.println(point);
		try {
			TimeUnit.MILLISECONDS.sleep(40);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
