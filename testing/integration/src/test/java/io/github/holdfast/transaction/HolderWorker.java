package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import org.jspecify.annotations.Nullable;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * Another node: takes one from the stock for each line on its standard input, and stops
 * at the point that the line tells until the next line.
 */
final class HolderWorker {

	static final Duration LEASE_TIME = Duration.ofSeconds(2);

	private HolderWorker() {
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		LockPlace place = LockPlace.valueOf(args[0]);
		try (HikariDataSource business = new DatabaseAccess(args[1], args[2], args[3]).dataSource(4);
				HikariDataSource locks = new DatabaseAccess(args[4], args[5], args[6]).dataSource(4)) {
			// The first use of the driver may take as long as a lease
			new JdbcLockBackend(() -> locks).holder("warm-up");
			for (String pause = input.readLine(); pause != null; pause = input.readLine()) {
				String at = pause;
				System.out.println(take(place, business, locks, pause.equals("CHECKED"), (point) -> {
					if (point.equals(at)) {
						System.out.println(point);
						input.readLine();
					}
				}));
			}
		}
	}

	/**
	 * Take one.
	 */
	static String take(LockPlace place, HikariDataSource business, HikariDataSource locks, boolean declared,
			Pause pause) {
		return take(place, business, place.store(locks), declared, pause);
	}

	static String take(LockPlace place, HikariDataSource business, LockBackend locks, boolean declared, Pause pause) {
		JdbcTransactionManager manager = new PausingManager(business, pause);
		JdbcTemplate jdbc = new JdbcTemplate(business);
		LockBackend store = new PausingStore(locks, pause);
		TransactionTemplate transaction = new TransactionTemplate(manager);
		try (GuardedNode node = place.node(store, business, manager)) {
			LockTemplate template = declared ? node.locksOfTransactions(manager) : node.locks();
			template.withLeaseTime(LEASE_TIME).withWaitTime(Duration.ofSeconds(60)).run("stock:A", () -> {
				pause.at("HELD");
				transaction.executeWithoutResult((status) -> {
					Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
					pause.at("READ");
					jdbc.update("UPDATE stock SET quantity = ? WHERE sku = 'A'",
							(quantity != null) ? quantity - 1 : -1);
				});
			});
			return "COMMITTED";
		}
		catch (RuntimeException ex) {
			return "REJECTED " + ex.getClass().getSimpleName();
		}
	}

	/**
	 * Pauses between the check and the commit.
	 */
	private static final class PausingManager extends JdbcTransactionManager {

		private static final long serialVersionUID = 1L;

		private final transient Pause pause;

		private PausingManager(HikariDataSource dataSource, Pause pause) {
			super(dataSource);
			this.pause = pause;
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.pause.at("CHECKED");
			super.doCommit(status);
		}

	}

	/**
	 * Pauses between the grant and its installation.
	 *
	 */
	private record PausingStore(LockBackend store, Pause pause) implements LockBackend {

		@Override
		public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
			Lease lease = this.store.acquire(request);
			this.pause.at("ACQUIRED");
			return lease;
		}

	}

	/**
	 * What happens at the points {@code ACQUIRED}, {@code HELD}, {@code READ} and
	 * {@code CHECKED} of a call.
	 */
	@FunctionalInterface
	interface Pause {

		void run(String point) throws IOException;

		default void at(String point) {
			try {
				run(point);
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
