package io.github.holdfast.transaction;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three nodes sell from one stock, with the locks in another database. Again and again
 * one of them is paused for longer than its lease, and then goes on.
 */
@Tag("F13")
class PausedHoldersTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("long")
	@Tag("night")
	void noUpdateIsLostAtFence(TestDatabase database) throws Exception {
		try (PausedWarehouse warehouse = start(database, CommitGuardLevel.FENCE, 1)) {
			for (int i = 0; i < 10; i++) {
				warehouse.pauseAHolder(point(i));
			}
			warehouse.endSales();
			assertThat(warehouse.sales()).isPositive();
			assertThat(warehouse.lostUpdates()).isZero();
		}
	}

	/**
	 * Each node hands the lock over among its threads.
	 */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void noUpdateIsLostAtFenceByThreadsThatShareALease(TestDatabase database) throws Exception {
		pauseThreadsThatShareALease(database, 3);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("long")
	@Tag("night")
	void noUpdateIsLostAtFenceByThreadsThatShareALeaseForLong(TestDatabase database) throws Exception {
		pauseThreadsThatShareALease(database, 10);
	}

	private static void pauseThreadsThatShareALease(TestDatabase database, int pauses) throws Exception {
		try (PausedWarehouse warehouse = start(database, CommitGuardLevel.FENCE, 4)) {
			warehouse.await("HANDED OVER");
			for (int i = 0; i < pauses; i++) {
				warehouse.pauseAHolder(point(i));
			}
			warehouse.endSales();
			assertThat(warehouse.sales()).isPositive();
			assertThat(warehouse.lostUpdates()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void updatesAreLostAtLeaseByThreadsThatShareALease(TestDatabase database) throws Exception {
		loseUpdatesOfThreadsThatShareALease(database);
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRESQL")
	@Tag("long")
	@Tag("night")
	void updatesAreLostAtLeaseByThreadsThatShareALeaseOnOtherDatabases(TestDatabase database) throws Exception {
		loseUpdatesOfThreadsThatShareALease(database);
	}

	private static void loseUpdatesOfThreadsThatShareALease(TestDatabase database) throws Exception {
		try (PausedWarehouse warehouse = start(database, CommitGuardLevel.LEASE, 4)) {
			warehouse.await("HANDED OVER");
			for (int i = 0; i < 40 && warehouse.lostUpdates() == 0; i++) {
				warehouse.pauseAHolder(point(i));
			}
			warehouse.endSales();
			assertThat(warehouse.lostUpdates()).isPositive();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("long")
	@Tag("night")
	void updatesAreLostAtLease(TestDatabase database) throws Exception {
		try (PausedWarehouse warehouse = start(database, CommitGuardLevel.LEASE, 1)) {
			for (int i = 0; i < 40 && warehouse.lostUpdates() == 0; i++) {
				warehouse.pauseAHolder(point(i));
			}
			warehouse.endSales();
			assertThat(warehouse.lostUpdates()).isPositive();
		}
	}

	private static String point(int round) {
		return (round % 3 == 0) ? "READ" : "CHECKED";
	}

	private static PausedWarehouse start(TestDatabase database, CommitGuardLevel level, int threads) {
		DatabaseAccess locks = TestDatabase.H2.newRemoteDatabase();
		try (HikariDataSource dataSource = locks.dataSource(1)) {
			LockPlace.createTable(dataSource, TestDatabase.H2);
		}
		return new PausedWarehouse(database,
				(business) -> ChildJvm.start(SalesWorker.class, level.name(), business.url(), business.user(),
						business.password(), locks.url(), locks.user(), locks.password(), String.valueOf(threads)));
	}

	/**
	 * Nodes whose transactions claim, or would: they are also paused when they have the
	 * lock and their transaction is about to begin.
	 */
	@ParameterizedTest
	@CsvSource("MARIADB,4")
	void noUpdateIsLostByTransactionsThatClaim(TestDatabase database, int threads) throws Exception {
		pauseTransactionsThatClaim(database, threads, 3);
	}

	@ParameterizedTest
	@CsvSource({ "H2,2", "MARIADB,1", "MARIADB,2", "MARIADB,4", "POSTGRESQL,1", "POSTGRESQL,2", "POSTGRESQL,4" })
	@Tag("long")
	@Tag("night")
	void noUpdateIsLostByManyTransactionsThatClaim(TestDatabase database, int threads) throws Exception {
		pauseTransactionsThatClaim(database, threads, (threads == 2) ? 30 : 9);
	}

	private static void pauseTransactionsThatClaim(TestDatabase database, int threads, int pauses) throws Exception {
		try (PausedWarehouse warehouse = startClaiming(database, CommitGuardLevel.FENCE, threads)) {
			for (int i = 0; i < pauses; i++) {
				warehouse.pauseAHolder(claimingPoint(i));
			}
			warehouse.endSales();
			assertThat(warehouse.sales()).isPositive();
			assertThat(warehouse.lostUpdates()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void updatesAreLostWhereTransactionsDoNotClaim(TestDatabase database) throws Exception {
		loseUpdatesOfTransactionsThatDoNotClaim(database);
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	@Tag("long")
	@Tag("night")
	void updatesAreLostWhereTransactionsDoNotClaimOnPostgreSql(TestDatabase database) throws Exception {
		loseUpdatesOfTransactionsThatDoNotClaim(database);
	}

	private static void loseUpdatesOfTransactionsThatDoNotClaim(TestDatabase database) throws Exception {
		try (PausedWarehouse warehouse = startClaiming(database, CommitGuardLevel.LEASE, 1)) {
			for (int i = 0; i < 40 && warehouse.lostUpdates() == 0; i++) {
				warehouse.pauseAHolder("CHECKED");
			}
			warehouse.endSales();
			assertThat(warehouse.lostUpdates()).isPositive();
		}
	}

	/**
	 * The row stays locked as long as the transaction is open: for ever, unless the
	 * database ends it.
	 */
	@ParameterizedTest
	@CsvSource("MARIADB,?sessionVariables=idle_transaction_timeout=1")
	void othersGoOnWhenTheDatabaseHasEndedTheTransactionOfAPausedHolder(TestDatabase database, String idle)
			throws Exception {
		pauseUntilTheDatabaseEndsTheTransaction(database, idle);
	}

	@ParameterizedTest
	@CsvSource("POSTGRESQL,?options=-c%20idle_in_transaction_session_timeout=1000")
	@Tag("long")
	@Tag("night")
	void othersGoOnWhenPostgreSqlHasEndedTheTransactionOfAPausedHolder(TestDatabase database, String idle)
			throws Exception {
		pauseUntilTheDatabaseEndsTheTransaction(database, idle);
	}

	private static void pauseUntilTheDatabaseEndsTheTransaction(TestDatabase database, String idle) throws Exception {
		try (PausedWarehouse warehouse = startClaiming(database, CommitGuardLevel.FENCE, 1, idle)) {
			for (int i = 0; i < 3; i++) {
				warehouse.pauseAHolderUntilOthersSell((i == 0) ? "CHECKED" : "READ");
			}
			assertThat(warehouse.lostUpdates()).isZero();
		}
	}

	private static String claimingPoint(int round) {
		return switch (round % 3) {
			case 0 -> "BEGINS";
			case 1 -> "READ";
			default -> "CHECKED";
		};
	}

	private static PausedWarehouse startClaiming(TestDatabase database, CommitGuardLevel level, int threads) {
		return startClaiming(database, level, threads, "");
	}

	private static PausedWarehouse startClaiming(TestDatabase database, CommitGuardLevel level, int threads,
			String settings) {
		RedisServer redis = RedisServer.shared();
		redis.command("FLUSHALL");
		return new PausedWarehouse(database,
				(business) -> ChildJvm.start(ClaimingSalesWorker.class, level.name(), business.url() + settings,
						business.user(), business.password(), String.valueOf(redis.port()), String.valueOf(threads)));
	}

}
