package io.github.holdfast.sample.wms.proof;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes sell more than there is. The databases are the leaves.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractOversellProof {

	private static final Runnable NOTHING = () -> {
	};

	@SuppressWarnings("NullAway.Init")
	private TestDatabase database;

	abstract TestDatabase startDatabase() throws Exception;

	@BeforeAll
	void start() throws Exception {
		this.database = startDatabase();
	}

	@AfterAll
	void stop() throws Exception {
		this.database.close();
	}

	@Test
	void sellsExactlyWhatThereIs() throws Exception {
		try (Cluster cluster = start("locked")) {
			assertSoldOut(sale(cluster).run("locks on", List.of(List.of("A")), NOTHING));
		}
	}

	@Test
	void sellsExactlyWhatThereIsWhenOrdersNameSkusInAnyOrder() throws Exception {
		try (Cluster cluster = start("several")) {
			List<List<String>> orders = List.of(List.of("A", "B", "C"), List.of("C", "B", "A"), List.of("B", "C", "A"));
			assertSoldOut(sale(cluster).run("locks on, three SKUs an order", orders, NOTHING));
		}
	}

	@Test
	void sellsExactlyWhatThereIsWhenNodeIsKilled() throws Exception {
		try (Cluster cluster = start("killed", "--holdfast.lease-time=3s")) {
			AtomicInteger answers = new AtomicInteger();
			Sale.Result result = sale(cluster).run("locks on, one node killed", List.of(List.of("A")), () -> {
				if (answers.incrementAndGet() == Sale.STOCK / 2) {
					cluster.killFirst();
				}
			});
			assertThat(result.retries()).isPositive();
			assertSoldOut(result);
		}
	}

	@Test
	void oversellsWithoutLocks() throws Exception {
		try (Cluster cluster = start("unlocked", "--holdfast.enabled=false")) {
			Sale.Result result = sale(cluster).run("locks off", List.of(List.of("A")), NOTHING);
			assertThat(result.confirmed()).isEqualTo(result.confirmedInDatabase()).isGreaterThan(Sale.STOCK);
		}
	}

	private Cluster start(String name, String... arguments) throws Exception {
		return Cluster.start(this.database.name() + "-" + name, this.database, arguments);
	}

	private Sale sale(Cluster cluster) {
		return new Sale(this.database, cluster);
	}

	private static void assertSoldOut(Sale.Result result) {
		assertThat(result.confirmed()).isEqualTo(Sale.STOCK);
		assertThat(result.confirmedInDatabase()).isEqualTo(Sale.STOCK);
		assertThat(result.refused()).isEqualTo(Sale.ORDERS - Sale.STOCK);
		assertThat(result.stock()).containsOnly(0L);
		assertThat(result.lowestStock()).isZero();
	}

}
