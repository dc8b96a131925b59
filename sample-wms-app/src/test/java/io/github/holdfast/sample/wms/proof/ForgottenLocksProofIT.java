package io.github.holdfast.sample.wms.proof;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes sell more than there is, and the server that keeps their locks forgets them
 * in the middle. Each database and each server is in one pairing at least.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
@Tag("night")
class ForgottenLocksProofIT {

	private final Map<TestDatabase, StockDatabase> databases = new EnumMap<>(TestDatabase.class);

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, REDIS", "MARIADB, REDISSON" })
	void sellsExactlyWhatThereIsWhenLocksAreForgotten(TestDatabase type, Backend backend) throws Exception {
		StockDatabase database = database(type);
		try (LockServer.Forgetful server = (LockServer.Forgetful) backend.start();
				Cluster cluster = Cluster.start("forgotten-" + backend, database, server, "--holdfast.wait-time=2s")) {
			Sale.Result result = sellWhileLocksAreForgotten(backend + ", server killed", database, server, cluster,
					(sale) -> database.blocked() == 2 || sale.hasMet("busy"));
			assertThat(result.errors()).contains("lock-store-down").containsAnyOf("lock-lost", "busy");
			result.assertSoldOut();
		}
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, REDIS" })
	void oversellsWithoutFenceWhenLocksAreForgotten(TestDatabase type, Backend backend) throws Exception {
		StockDatabase database = database(type);
		try (LockServer.Forgetful server = (LockServer.Forgetful) backend.start();
				Cluster cluster = Cluster.start("unfenced-" + backend, database, server, "--holdfast.wait-time=2s",
						"--holdfast.commit-guard=lease", "--holdfast.lease-time=10m")) {
			sellWhileLocksAreForgotten(backend + ", server killed, no fence", database, server, cluster,
					(sale) -> database.blocked() == 2)
				.assertOversold();
		}
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
		return sale.run(title, Sale.ONE_SKU, Sale.halfWay(() -> {
			ConditionFactory await = Awaitility.await().atMost(Duration.ofMinutes(1));
			try (Connection stock = database.lockStock()) {
				await.until(() -> database.blocked() == 1);
				server.kill();
				await.until(() -> sale.hasMet("lock-store-down"));
				server.restart();
				await.until(() -> overtaken.isSeen(sale));
				stock.rollback();
			}
		}));
	}

	private StockDatabase database(TestDatabase type) {
		return this.databases.computeIfAbsent(type, StockDatabase::create);
	}

	/**
	 * What it looks like when another one has the lock.
	 */
	@FunctionalInterface
	private interface Overtaken {

		boolean isSeen(Sale sale) throws SQLException;

	}

}
