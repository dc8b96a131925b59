package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node that sells one piece after the other until its standard input says that it is
 * enough. Takes its time, and tells so, after reading and between check and COMMIT.
 */
final class SalesWorker {

	static final Duration LEASE_TIME = Duration.ofSeconds(1);

	/** Longer than a sale, which takes its time. */
	private static final Duration HANDOVER_LIMIT = Duration.ofMillis(400);

	private final HikariDataSource business;

	private final JdbcTransactionManager manager;

	private final GuardedNode node;

	private SalesWorker(CommitGuardLevel level, HikariDataSource business, HikariDataSource locks) {
		this.business = business;
		this.manager = new JdbcTransactionManager(business);
		LockBackend store = LockPlace.OTHER_DATABASE.store(locks);
		this.node = new GuardedNode(store,
				(level == CommitGuardLevel.FENCE) ? RowClaims.of(() -> business, "test") : null, HANDOVER_LIMIT,
				this.manager);
		this.manager.addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				takeTime("CHECKED");
			}

		});
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		try (HikariDataSource business = new DatabaseAccess(args[1], args[2], args[3]).dataSource(4);
				HikariDataSource locks = new DatabaseAccess(args[4], args[5], args[6]).dataSource(4)) {
			SalesWorker worker = new SalesWorker(CommitGuardLevel.valueOf(args[0]), business, locks);
			List<Thread> threads = Stream.generate(() -> new Thread(worker::sell))
				.limit(Integer.parseInt(args[7]))
				.toList();
			threads.forEach((thread) -> thread.setDaemon(true));
			threads.forEach(Thread::start);
			input.readLine();
			threads.forEach(Thread::interrupt);
			for (Thread thread : threads) {
				thread.join();
			}
			worker.node.close();
			System.out.println("ENDED");
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void sell() {
		TransactionTemplate transaction = new TransactionTemplate(this.manager);
		LockTemplate shortLease = this.node.locks().withLeaseTime(LEASE_TIME).withWaitTime(Duration.ofSeconds(60));
		while (!Thread.currentThread().isInterrupted()) {
			try {
				shortLease.run("stock:A", () -> transaction.executeWithoutResult((status) -> sellOne()));
			}
			catch (RuntimeException ex) {
				boolean expected = ex instanceof LockException || Thread.currentThread().isInterrupted();
				System.out.println((expected ? "REJECTED " : "FAILED ") + ex);
			}
		}
	}

	private void sellOne() {
		if (LockContext.current().orElseThrow().fencingToken("stock:A") % 256 > 0) {
			System.out.println("HANDED OVER");
		}
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
