package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three nodes sell from one stock, with the locks in another database. Again and again
 * one of them is paused for longer than its lease, and then goes on.
 */
@Tag("F13")
class PausedHoldersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int STOCK = 100_000;

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("long")
	void noUpdateIsLostAtFence(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, CommitGuardLevel.FENCE, 1)) {
			for (int i = 0; i < 10; i++) {
				warehouse.pauseAHolder(i);
			}
			warehouse.endSales();
			assertThat(warehouse.sales()).isPositive();
			assertThat(warehouse.lostUpdates()).isZero();
		}
	}

	/**
	 * Each node passes the lock on among its threads.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void noUpdateIsLostAtFenceByThreadsThatShareALease(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, CommitGuardLevel.FENCE, 4)) {
			warehouse.awaitLeasePassedOn();
			for (int i = 0; i < 10; i++) {
				warehouse.pauseAHolder(i);
			}
			warehouse.endSales();
			assertThat(warehouse.sales()).isPositive();
			assertThat(warehouse.lostUpdates()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void updatesAreLostAtLeaseByThreadsThatShareALease(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, CommitGuardLevel.LEASE, 4)) {
			warehouse.awaitLeasePassedOn();
			for (int i = 0; i < 40 && warehouse.lostUpdates() == 0; i++) {
				warehouse.pauseAHolder(i);
			}
			warehouse.endSales();
			assertThat(warehouse.lostUpdates()).isPositive();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("long")
	void updatesAreLostAtLease(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, CommitGuardLevel.LEASE, 1)) {
			for (int i = 0; i < 40 && warehouse.lostUpdates() == 0; i++) {
				warehouse.pauseAHolder(i);
			}
			warehouse.endSales();
			assertThat(warehouse.lostUpdates()).isPositive();
		}
	}

	/**
	 * The stock and the nodes that sell from it.
	 */
	private static final class Warehouse implements AutoCloseable {

		private final HikariDataSource business;

		private final HikariDataSource locks;

		private final List<ChildJvm> nodes = new ArrayList<>();

		private Warehouse(TestDatabase database, CommitGuardLevel level, int threads) {
			DatabaseAccess businessAccess = database.newRemoteDatabase();
			DatabaseAccess locksAccess = TestDatabase.H2.newRemoteDatabase();
			this.business = businessAccess.dataSource(2);
			this.locks = locksAccess.dataSource(2);
			LockPlace.OTHER_DATABASE.createFenceTable(this.business, database);
			LockPlace.BUSINESS_DATABASE.createFenceTable(this.locks, TestDatabase.H2);
			JdbcTemplate jdbc = new JdbcTemplate(this.business);
			jdbc.execute("CREATE TABLE stock (quantity integer NOT NULL)");
			jdbc.execute("CREATE TABLE sale (pieces integer NOT NULL)");
			jdbc.update("INSERT INTO stock VALUES (?)", STOCK);
			for (int i = 0; i < 3; i++) {
				this.nodes.add(ChildJvm.start(SalesWorker.class, level.name(), businessAccess.url(),
						businessAccess.user(), businessAccess.password(), locksAccess.url(), locksAccess.user(),
						locksAccess.password(), String.valueOf(threads)));
			}
		}

		void awaitLeasePassedOn() {
			await().atMost(PATIENCE)
				.until(() -> this.nodes.stream().anyMatch((node) -> node.poll("PASSED ON").isPresent()));
		}

		/**
		 * Stop whichever node comes to a point of its sale for longer than its lease.
		 */
		void pauseAHolder(int round) throws InterruptedException {
			String point = (round % 3 == 0) ? "READ" : "CHECKED";
			this.nodes.forEach((node) -> {
				while (node.poll(point).isPresent()) {
					// One of the past
				}
			});
			ChildJvm node = await().pollInterval(Duration.ofMillis(2))
				.atMost(PATIENCE)
				.until(() -> this.nodes.stream().filter((it) -> it.poll(point).isPresent()).findAny(),
						Optional::isPresent)
				.orElseThrow();
			node.pause();
			TimeUnit.NANOSECONDS.sleep(SalesWorker.LEASE_TIME.multipliedBy(3).toNanos() / 2);
			node.resume();
		}

		void endSales() throws InterruptedException {
			this.nodes.forEach((node) -> node.send("enough"));
			for (ChildJvm node : this.nodes) {
				node.await("ENDED", PATIENCE);
				assertThat(node.poll("FAILED ")).isEmpty();
			}
		}

		long sales() {
			return number("SELECT count(*) FROM sale");
		}

		long lostUpdates() {
			return number("SELECT (SELECT count(*) FROM sale) - (" + STOCK + " - quantity) FROM stock");
		}

		private long number(String sql) {
			Long number = new JdbcTemplate(this.business).queryForObject(sql, Long.class);
			return (number != null) ? number : -1;
		}

		@Override
		public void close() {
			this.nodes.forEach(ChildJvm::close);
			this.locks.close();
			this.business.close();
		}

	}

}
