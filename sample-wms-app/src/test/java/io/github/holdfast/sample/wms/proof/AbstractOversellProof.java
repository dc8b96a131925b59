package io.github.holdfast.sample.wms.proof;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes sell more than there is. The databases are the leaves.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractOversellProof {

	static final Sale.Action NOTHING = () -> {
	};

	static final List<List<String>> SKUS_IN_ANY_ORDER = List.of(List.of("A", "B", "C"), List.of("C", "B", "A"),
			List.of("B", "C", "A"));

	@SuppressWarnings("NullAway.Init")
	private TestDatabase database;

	@SuppressWarnings("NullAway.Init")
	private TestRedis redis;

	abstract TestDatabase startDatabase() throws Exception;

	@BeforeAll
	void start() throws Exception {
		this.database = startDatabase();
		this.redis = new TestRedis();
	}

	@AfterAll
	void stop() throws Exception {
		if (this.redis != null) {
			this.redis.close();
		}
		if (this.database != null) {
			this.database.close();
		}
	}

	@Test
	void sellsExactlyWhatThereIs() throws Exception {
		try (Cluster cluster = start("locked", Backend.JDBC)) {
			assertSoldOut(sale(cluster).run("locks on", List.of(List.of("A")), NOTHING));
		}
	}

	@Test
	void sellsExactlyWhatThereIsWhenOrdersNameSkusInAnyOrder() throws Exception {
		try (Cluster cluster = start("several", Backend.JDBC)) {
			assertSoldOut(sale(cluster).run("locks on, three SKUs an order", SKUS_IN_ANY_ORDER, NOTHING));
		}
	}

	@Test
	void sellsExactlyWhatThereIsWhenNodeIsKilled() throws Exception {
		try (Cluster cluster = start("killed", Backend.JDBC, "--holdfast.lease-time=3s")) {
			Sale.Result result = sale(cluster).run("locks on, one node killed", List.of(List.of("A")),
					halfWay(cluster::killFirst));
			assertThat(result.retries()).isPositive();
			assertSoldOut(result);
		}
	}

	@Test
	@Tag("long")
	void sellsExactlyWhatThereIsWithLocksInSessions() throws Exception {
		try (Cluster cluster = start("session", Backend.JDBC, "--spring.profiles.active=session")) {
			assertSoldOut(sale(cluster).run("session mode, three SKUs an order", SKUS_IN_ANY_ORDER, NOTHING));
			Sale.Result result = sale(cluster).run("session mode, one node killed", List.of(List.of("A")),
					halfWay(cluster::killFirst));
			assertThat(result.retries()).isPositive();
			assertSoldOut(result);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JDBC")
	void sellsExactlyWhatThereIsAndAlsoWhenRedisLosesLocks(Backend backend) throws Exception {
		try (Cluster cluster = start("locked", backend, "--holdfast.wait-time=2s")) {
			assertSoldOut(sale(cluster).run(backend + ", locks on, three SKUs an order", SKUS_IN_ANY_ORDER, NOTHING));
			Sale.Result result = sellWhileRedisLosesLocks(cluster, backend + ", locks on, Redis killed");
			assertThat(result.errors()).contains(503, 409);
			assertSoldOut(result);
		}
	}

	@Test
	void oversellsWithoutFenceWhenRedisLosesLocks() throws Exception {
		try (Cluster cluster = start("unfenced", Backend.REDIS, "--holdfast.wait-time=2s",
				"--holdfast.commit-guard=lease", "--wms.items.enabled=false", "--holdfast.lease-time=10m")) {
			assertOversold(sellWhileRedisLosesLocks(cluster, "redis, locks on, no fence, Redis killed"));
		}
	}

	/**
	 * Redis has forgotten the lock of one who is about to write the stock when another
	 * one gets it, too.
	 */
	private Sale.Result sellWhileRedisLosesLocks(Cluster cluster, String title) throws Exception {
		Sale sale = sale(cluster);
		return sale.run(title, List.of(List.of("A")), halfWay(() -> {
			ConditionFactory await = Awaitility.await().atMost(Duration.ofMinutes(1));
			try (Connection stock = this.database.lockStock()) {
				await.until(() -> this.database.blocked() == 1);
				this.redis.kill();
				await.until(() -> sale.hasMet(503));
				this.redis.restart();
				await.until(() -> this.database.blocked() == 2);
				stock.rollback();
			}
		}));
	}

	/**
	 * The same for all backends: none is created.
	 */
	@Test
	void oversellsWithoutLocks() throws Exception {
		try (Cluster cluster = start("unlocked", Backend.JDBC, "--holdfast.enabled=false")) {
			assertOversold(sale(cluster).run("locks off", List.of(List.of("A")), NOTHING));
		}
	}

	static Sale.Action halfWay(Sale.Action action) {
		AtomicInteger answers = new AtomicInteger();
		return () -> {
			if (answers.incrementAndGet() == Sale.STOCK / 2) {
				action.run();
			}
		};
	}

	private Cluster start(String name, Backend backend, String... arguments) throws Exception {
		List<String> all = new ArrayList<>(this.database.arguments());
		all.addAll(backend.arguments(this.redis));
		Collections.addAll(all, arguments);
		return Cluster.start(this.database.name() + "-" + backend + "-" + name, all);
	}

	private Sale sale(Cluster cluster) {
		return new Sale(this.database, cluster);
	}

	static void assertSoldOut(Sale.Result result) {
		assertThat(result.confirmed()).isEqualTo(Sale.STOCK);
		assertThat(result.confirmedInDatabase()).isEqualTo(Sale.STOCK);
		assertThat(result.refused()).isEqualTo(Sale.ORDERS - Sale.STOCK);
		assertThat(result.stock()).containsOnly(0L);
		assertThat(result.lowestStock()).isZero();
	}

	private static void assertOversold(Sale.Result result) {
		assertThat(result.confirmed()).isEqualTo(result.confirmedInDatabase()).isGreaterThan(Sale.STOCK);
	}

}
