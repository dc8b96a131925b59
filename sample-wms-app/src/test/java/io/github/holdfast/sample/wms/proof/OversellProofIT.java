package io.github.holdfast.sample.wms.proof;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes sell more than there is, on each database and with each backend. Further ones
 * are long tests: each database with its own table, each other store once.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OversellProofIT {

	private static final List<List<String>> SKUS_IN_ANY_ORDER = List.of(List.of("A", "B", "C"), List.of("C", "B", "A"),
			List.of("B", "C", "A"));

	private static final Sale.Action NOTHING = () -> {
	};

	private final Map<TestDatabase, StockDatabase> databases = new EnumMap<>(TestDatabase.class);

	@ParameterizedTest
	@CsvSource("MARIADB, JDBC")
	void sellsExactlyWhatThereIsAndAlsoWhenNodeIsKilled(TestDatabase type, Backend backend) throws Exception {
		StockDatabase database = database(type);
		try (LockServer server = backend.start();
				Cluster cluster = Cluster.start("locked-" + backend, database, server, "--holdfast.lease-time=3s")) {
			new FlashSale(database, cluster).run(backend + ", flash sale", 32).assertFair();
			Sale sale = new Sale(database, cluster);
			sale.run(backend + ", three SKUs an order", SKUS_IN_ANY_ORDER, NOTHING).assertSoldOut();
			sale = new Sale(database, cluster);
			Sale.Result result = sale.run(backend + ", one node killed", Sale.ONE_SKU,
					Sale.halfWay(cluster::killFirst));
			assertThat(result.retries()).isPositive();
			result.assertSoldOut();
		}
	}

	@ParameterizedTest
	@CsvSource({ "H2, JDBC", "POSTGRESQL, JDBC", "POSTGRESQL, REDIS", "MARIADB, REDISSON" })
	@Tag("long")
	@Tag("night")
	void sellsExactlyWhatThereIsEverywhereAndAlsoWhenNodeIsKilled(TestDatabase type, Backend backend) throws Exception {
		sellsExactlyWhatThereIsAndAlsoWhenNodeIsKilled(type, backend);
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
			new Sale(database, cluster).run("locks off", Sale.ONE_SKU, NOTHING).assertOversold();
			Awaitility.await()
				.atMost(Duration.ofMinutes(5))
				.until(() -> !new FlashSale(database, cluster).run("locks off, flash sale", 1).isFair());
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB")
	@Tag("long")
	@Tag("night")
	void oversellsEverywhereWithoutLocks(TestDatabase type) throws Exception {
		oversellsWithoutLocks(type);
	}

	private StockDatabase database(TestDatabase type) {
		return this.databases.computeIfAbsent(type, StockDatabase::create);
	}

}
