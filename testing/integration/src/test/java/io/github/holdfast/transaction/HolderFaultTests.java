package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A node dies or stops in the middle of a locked call.
 */
class HolderFaultTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@CsvSource({ "H2, BUSINESS_DATABASE", "MARIADB, OTHER_DATABASE", "POSTGRESQL, BUSINESS_DATABASE" })
	void killedHolderFreesTheLockWithinItsLease(TestDatabase database, LockPlace place) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, place); ChildJvm holder = warehouse.holder()) {
			holder.send("READ");
			holder.await("READ", PATIENCE);
			holder.kill();
			long expiresAt = warehouse.lockColumn("expires_at");
			long[] acquiredAt = new long[1];
			String outcome = warehouse.take(false, (point) -> {
				if (point.equals("ACQUIRED")) {
					acquiredAt[0] = warehouse.lockColumn("expires_at")
							- TimeUnit.MICROSECONDS.convert(HolderWorker.LEASE_TIME);
				}
			});
			assertThat(outcome).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(99);
			assertThat(Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(acquiredAt[0] - expiresAt)))
				.as("from the end of the lease to the next holder, by the database's clock")
				.isBetween(Duration.ZERO, HolderWorker.LEASE_TIME.plusSeconds(5));
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, BUSINESS_DATABASE", "POSTGRESQL, OTHER_DATABASE", "H2, OTHER_DATABASE" })
	void pausedHolderCannotCommitOverItsSuccessor(TestDatabase database, LockPlace place) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, place); ChildJvm holder = warehouse.holder()) {
			holder.send("HELD");
			holder.await("HELD", PATIENCE);
			holder.pause();
			assertThat(warehouse.take(false, (point) -> {
			})).isEqualTo("COMMITTED");
			holder.resume();
			holder.send("go on");
			assertThat(holder.await("REJECTED ", PATIENCE)).isEqualTo("LockLostException");
			assertThat(warehouse.quantity()).isEqualTo(99);
			holder.send("no pause");
			holder.await("COMMITTED", PATIENCE);
			assertThat(warehouse.quantity()).isEqualTo(98);
		}
	}

	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void holderThatIsPausedBeforeItsInstallationAcquiresAnew(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, LockPlace.OTHER_DATABASE);
				ChildJvm holder = warehouse.holder()) {
			holder.send("ACQUIRED");
			holder.await("ACQUIRED", PATIENCE);
			holder.pause();
			assertThat(warehouse.take(false, (point) -> {
			})).isEqualTo("COMMITTED");
			holder.resume();
			holder.send("go on");
			holder.await("ACQUIRED", PATIENCE);
			holder.send("go on");
			holder.await("COMMITTED", PATIENCE);
			assertThat(warehouse.quantity()).isEqualTo(98);
		}
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void holderThatIsPausedBetweenCheckAndCommitIsWaitedFor(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database, LockPlace.OTHER_DATABASE);
				ChildJvm holder = warehouse.holder()) {
			holder.send("CHECKED");
			holder.await("CHECKED", PATIENCE);
			holder.pause();
			long epoch = warehouse.lockColumn("epoch");
			FutureTask<String> successor = new FutureTask<>(() -> warehouse.take(true, (point) -> {
			}));
			new Thread(successor).start();
			await().atMost(PATIENCE).until(() -> warehouse.lockColumn("epoch") > epoch);
			assertThat(successor.isDone()).isFalse();
			holder.resume();
			holder.send("go on");
			holder.await("COMMITTED", PATIENCE);
			assertThat(successor.get(60, TimeUnit.SECONDS)).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(98);
		}
	}

	/**
	 * The stock, the locks and a pool for each.
	 */
	private static final class Warehouse implements AutoCloseable {

		private final LockPlace place;

		private final DatabaseAccess businessAccess;

		private final DatabaseAccess locksAccess;

		private final HikariDataSource business;

		private final HikariDataSource locks;

		private Warehouse(TestDatabase database, LockPlace place) {
			this.place = place;
			this.businessAccess = database.newRemoteDatabase();
			this.locksAccess = (place == LockPlace.BUSINESS_DATABASE) ? this.businessAccess
					: database.newRemoteDatabase();
			this.business = this.businessAccess.dataSource(4);
			this.locks = this.locksAccess.dataSource(4);
			LockPlace.createTable(this.business, database);
			LockPlace.createTable(this.locks, database);
			JdbcTemplate jdbc = new JdbcTemplate(this.business);
			jdbc.execute("CREATE TABLE stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
			jdbc.update("INSERT INTO stock VALUES ('A', 100)");
		}

		ChildJvm holder() {
			return ChildJvm.start(HolderWorker.class, this.place.name(), this.businessAccess.url(),
					this.businessAccess.user(), this.businessAccess.password(), this.locksAccess.url(),
					this.locksAccess.user(), this.locksAccess.password());
		}

		String take(boolean declared, HolderWorker.Pause pause) {
			return HolderWorker.take(this.place, this.business, this.locks, declared, pause);
		}

		int quantity() {
			Integer quantity = new JdbcTemplate(this.business).queryForObject("SELECT quantity FROM stock",
					Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		long lockColumn(String column) {
			Long value = new JdbcTemplate(this.locks).queryForObject("SELECT " + column + " FROM holdfast_lock",
					Long.class);
			return (value != null) ? value : -1;
		}

		@Override
		public void close() {
			this.locks.close();
			this.business.close();
		}

	}

}
