package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.session.JdbcSessionLockBackend;
import io.github.holdfast.store.session.SessionDataSource;
import io.github.holdfast.store.session.SessionFence;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node with locks in database sessions: takes one from the stock, and waits for a line
 * on its standard input when it has read.
 */
final class SessionHolderWorker {

	private SessionHolderWorker() {
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		try (HikariDataSource pool = new DatabaseAccess(args[0], args[1], args[2]).dataSource(4)) {
			System.out.println(take(pool, Duration.ofSeconds(60), () -> {
				System.out.println("READ");
				try {
					input.readLine();
				}
				catch (IOException ex) {
					throw new IllegalStateException(ex);
				}
			}));
		}
	}

	static String take(HikariDataSource pool, Duration waitTime, Runnable whenRead) {
		DataSource dataSource = SessionDataSource.around(pool);
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		new CommitGuardPostProcessor(() -> CommitGuardLevel.FENCE, () -> new SessionFence(() -> dataSource))
			.postProcessAfterInitialization(manager, "transactionManager");
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		try (LockTemplate template = new LockTemplate(() -> new JdbcSessionLockBackend(() -> dataSource, () -> 3),
				List::of)) {
			template.withWaitTime(waitTime)
				.run("stock:A", () -> new TransactionTemplate(manager).executeWithoutResult((status) -> {
					Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
					whenRead.run();
					jdbc.update("UPDATE stock SET quantity = ? WHERE sku = 'A'",
							(quantity != null) ? quantity - 1 : -1);
				}));
			return "COMMITTED";
		}
		catch (RuntimeException ex) {
			return "REJECTED " + ex.getClass().getSimpleName();
		}
	}

}
