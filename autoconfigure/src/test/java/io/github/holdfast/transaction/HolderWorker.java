package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * Another node: takes one from the stock for each line on its standard input, and stops
 * between reading and writing until the next line.
 */
final class HolderWorker {

	static final Duration LEASE_TIME = Duration.ofSeconds(2);

	private HolderWorker() {
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		try (HikariDataSource dataSource = new DatabaseAccess(args[0], args[1], args[2]).dataSource(4)) {
			while (input.readLine() != null) {
				System.out.println(take(dataSource, () -> {
					System.out.println("READ");
					input.readLine();
				}));
			}
		}
	}

	static String take(HikariDataSource dataSource, Pause pause) {
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		new CommitGuardPostProcessor(() -> CommitGuardLevel.FENCE, () -> new Fence(() -> dataSource))
			.postProcessAfterInitialization(manager, "transactionManager");
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		try (LockTemplate locks = new LockTemplate(() -> new JdbcLockBackend(() -> dataSource), List::of)) {
			locks.withLeaseTime(LEASE_TIME)
				.withWaitTime(Duration.ofSeconds(60))
				.run("stock:A", () -> new TransactionTemplate(manager).executeWithoutResult((status) -> {
					Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
					pause.run();
					jdbc.update("UPDATE stock SET quantity = ? WHERE sku = 'A'",
							(quantity != null) ? quantity - 1 : -1);
				}));
			return "COMMITTED";
		}
		catch (RuntimeException ex) {
			return "REJECTED " + ex.getClass().getSimpleName();
		}
	}

	@FunctionalInterface
	interface Pause {

		void pause() throws IOException;

		default void run() {
			try {
				pause();
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
