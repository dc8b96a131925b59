package io.github.holdfast.sample.wms.proof;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes sell more than there is, on each database and with each backend. Those
 * pairings that show nothing new are long tests.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OversellProofIT {

	private static final List<List<String>> ONE_SKU = List.of(List.of("A"));

	private static final List<List<String>> SKUS_IN_ANY_ORDER = List.of(List.of("A", "B", "C"), List.of("C", "B", "A"),
			List.of("B", "C", "A"));

	private static final Sale.Action NOTHING = () -> {
	};

	private final Map<TestDatabase, StockDatabase> databases = new EnumMap<>(TestDatabase.class);

	@ParameterizedTest
	@CsvSource({ "MARIADB, JDBC", "POSTGRESQL, JDBC" })
	void sellsExactlyWhatThereIsAndAlsoWhenNodeIsKilled(TestDatabase type, Backend backend) throws Exception {
		StockDatabase database = database(type);
		try (LockServer server = backend.start();
				Cluster cluster = Cluster.start("locked-" + backend, database, server, "--holdfast.lease-time=3s")) {
			Sale sale = new Sale(database, cluster);
			assertSoldOut(sale.run(backend + ", three SKUs an order", SKUS_IN_ANY_ORDER, NOTHING));
			sale = new Sale(database, cluster);
			Sale.Result result = sale.run(backend + ", one node killed", ONE_SKU, halfWay(cluster::killFirst));
			assertThat(result.retries()).isPositive();
			assertSoldOut(result);
		}
	}

	@ParameterizedTest
	@MethodSource("everyOtherPairing")
	@Tag("long")
	void sellsExactlyWhatThereIsEverywhereAndAlsoWhenNodeIsKilled(TestDatabase type, Backend backend) throws Exception {
		sellsExactlyWhatThereIsAndAlsoWhenNodeIsKilled(type, backend);
	}

	static Stream<Arguments> everyOtherPairing() {
		return Stream.of(TestDatabase.values())
			.flatMap((type) -> Stream.of(Backend.values()).map((backend) -> Arguments.of(type, backend)))
			.filter((pairing) -> !List.of("[H2, session]", "[MARIADB, jdbc]", "[POSTGRESQL, jdbc]")
				.contains(List.of(pairing.get()).toString()));
	}

	@ParameterizedTest
	@CsvSource("MARIADB, REDIS")
	void sellsExactlyWhatThereIsWhenLocksAreForgotten(TestDatabase type, Backend backend) throws Exception {
		StockDatabase database = database(type);
		try (LockServer.Forgetful server = (LockServer.Forgetful) backend.start();
				Cluster cluster = Cluster.start("forgotten-" + backend, database, server, "--holdfast.wait-time=2s")) {
			Sale.Result result = sellWhileLocksAreForgotten(backend + ", server killed", database, server, cluster,
					(sale) -> database.blocked() == 2 || sale.hasMet(423));
			assertThat(result.errors()).contains(503).containsAnyOf(409, 423);
			assertSoldOut(result);
		}
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, REDIS", "MARIADB, REDISSON", "POSTGRESQL, REDISSON", "MARIADB, ETCD",
			"POSTGRESQL, ETCD" })
	@Tag("long")
	void sellsExactlyWhatThereIsEverywhereWhenLocksAreForgotten(TestDatabase type, Backend backend) throws Exception {
		sellsExactlyWhatThereIsWhenLocksAreForgotten(type, backend);
	}

	@ParameterizedTest
	@CsvSource("MARIADB, REDIS")
	void oversellsWithoutFenceWhenLocksAreForgotten(TestDatabase type, Backend backend) throws Exception {
		StockDatabase database = database(type);
		try (LockServer.Forgetful server = (LockServer.Forgetful) backend.start();
				Cluster cluster = Cluster.start("unfenced-" + backend, database, server, "--holdfast.wait-time=2s",
						"--holdfast.commit-guard=lease", "--wms.items.enabled=false", "--holdfast.lease-time=10m")) {
			assertOversold(sellWhileLocksAreForgotten(backend + ", server killed, no fence", database, server, cluster,
					(sale) -> database.blocked() == 2));
		}
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, REDIS", "MARIADB, ETCD" })
	@Tag("long")
	void oversellsEverywhereWithoutFenceWhenLocksAreForgotten(TestDatabase type, Backend backend) throws Exception {
		oversellsWithoutFenceWhenLocksAreForgotten(type, backend);
	}

	/**
	 * The same for all backends: none is created.
	 */
	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void oversellsWithoutLocks(TestDatabase type) throws Exception {
		StockDatabase database = database(type);
		try (LockServer server = Backend.JDBC.start();
				Cluster cluster = Cluster.start("unlocked", database, server, "--holdfast.enabled=false")) {
			assertOversold(new Sale(database, cluster).run("locks off", ONE_SKU, NOTHING));
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB")
	@Tag("long")
	void oversellsEverywhereWithoutLocks(TestDatabase type) throws Exception {
		oversellsWithoutLocks(type);
	}

	/**
	 * The server has forgotten the lock of one who is about to write the stock when
	 * another one gets it, too. At the level fence the other one either comes as far, and
	 * the first one is rolled back, or finds that the first one has claimed the lock, and
	 * waits in vain.
	 * @param overtaken what it looks like when another one has the lock
	 */
	private static Sale.Result sellWhileLocksAreForgotten(String title, StockDatabase database,
			LockServer.Forgetful server, Cluster cluster, Overtaken overtaken) throws Exception {
		Sale sale = new Sale(database, cluster);
		return sale.run(title, ONE_SKU, halfWay(() -> {
			ConditionFactory await = Awaitility.await().atMost(Duration.ofMinutes(1));
			try (Connection stock = database.lockStock()) {
				await.until(() -> database.blocked() == 1);
				server.kill();
				await.until(() -> sale.hasMet(503));
				server.restart();
				await.until(() -> overtaken.isSeen(sale));
				stock.rollback();
			}
		}));
	}

	private static Sale.Action halfWay(Sale.Action action) {
		AtomicInteger answers = new AtomicInteger();
		return () -> {
			if (answers.incrementAndGet() == Sale.STOCK / 2) {
				action.run();
			}
		};
	}

	private StockDatabase database(TestDatabase type) {
		return this.databases.computeIfAbsent(type, StockDatabase::create);
	}

	private static void assertSoldOut(Sale.Result result) {
		assertThat(result.confirmed()).isEqualTo(Sale.STOCK);
		assertThat(result.confirmedInDatabase()).isEqualTo(Sale.STOCK);
		assertThat(result.refused()).isEqualTo(Sale.ORDERS - Sale.STOCK);
		assertThat(result.stock()).containsOnly(0L);
		assertThat(result.lowestStock()).isZero();
	}

	private static void assertOversold(Sale.Result result) {
		assertThat(result.confirmed()).isEqualTo(result.confirmedInDatabase()).isGreaterThan(Sale.STOCK);
	}

	/**
	 * What it looks like when another one has the lock.
	 */
	@FunctionalInterface
	private interface Overtaken {

		boolean isSeen(Sale sale) throws SQLException;

	}

}
