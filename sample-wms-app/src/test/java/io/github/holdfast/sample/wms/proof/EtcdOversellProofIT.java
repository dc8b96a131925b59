package io.github.holdfast.sample.wms.proof;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Two nodes with their locks in etcd sell more than there is. The control run without
 * locks is that of the other proofs.
 */
@Tag("long")
class EtcdOversellProofIT {

	@SuppressWarnings("NullAway.Init")
	private TestDatabase database;

	@SuppressWarnings("NullAway.Init")
	private TestEtcd etcd;

	@BeforeEach
	void start() throws Exception {
		assumeTrue(TestEtcd.binary().isPresent(), "etcd is not on the PATH");
		this.database = TestDatabase.mariaDb();
		this.etcd = new TestEtcd();
	}

	@AfterEach
	void stop() throws Exception {
		if (this.etcd != null) {
			this.etcd.close();
		}
		if (this.database != null) {
			this.database.close();
		}
	}

	@Test
	void sellsExactlyWhatThereIsAndAlsoWhenEtcdLosesLocks() throws Exception {
		try (Cluster cluster = start("locked")) {
			assertSoldOut(new Sale(this.database, cluster).run("etcd, locks on, three SKUs an order",
					List.of(List.of("A", "B", "C"), List.of("C", "B", "A"), List.of("B", "C", "A")), () -> {
					}));
			Sale.Result result = sellWhileEtcdLosesLocks(cluster, "etcd, locks on, etcd killed");
			assertThat(result.errors()).contains(503, 409);
			assertSoldOut(result);
		}
	}

	@Test
	void oversellsWithoutFenceWhenEtcdLosesLocks() throws Exception {
		try (Cluster cluster = start("unfenced", "--holdfast.commit-guard=lease", "--wms.items.enabled=false",
				"--holdfast.lease-time=10m")) {
			Sale.Result result = sellWhileEtcdLosesLocks(cluster, "etcd, locks on, no fence, etcd killed");
			assertThat(result.confirmed()).isEqualTo(result.confirmedInDatabase()).isGreaterThan(Sale.STOCK);
		}
	}

	/**
	 * etcd has forgotten the lock of one who is about to write the stock when another one
	 * gets it, too.
	 */
	private Sale.Result sellWhileEtcdLosesLocks(Cluster cluster, String title) throws Exception {
		Sale sale = new Sale(this.database, cluster);
		AtomicInteger answers = new AtomicInteger();
		return sale.run(title, List.of(List.of("A")), () -> {
			if (answers.incrementAndGet() == Sale.STOCK / 2) {
				loseLocks(sale);
			}
		});
	}

	private void loseLocks(Sale sale) throws Exception {
		ConditionFactory await = Awaitility.await().atMost(Duration.ofMinutes(1));
		try (Connection stock = this.database.lockStock()) {
			await.until(() -> this.database.blocked() == 1);
			this.etcd.kill();
			await.until(() -> sale.hasMet(503));
			this.etcd.restart();
			await.until(() -> this.database.blocked() == 2);
			stock.rollback();
		}
	}

	private Cluster start(String name, String... arguments) throws Exception {
		List<String> all = new ArrayList<>(this.database.arguments());
		all.addAll(List.of("--spring.profiles.active=etcd", "--holdfast.etcd.endpoints=" + this.etcd.endpoint(),
				"--holdfast.wait-time=2s"));
		all.addAll(List.of(arguments));
		return Cluster.start("etcd-" + name, all);
	}

	private static void assertSoldOut(Sale.Result result) {
		assertThat(result.confirmed()).isEqualTo(Sale.STOCK);
		assertThat(result.confirmedInDatabase()).isEqualTo(Sale.STOCK);
		assertThat(result.refused()).isEqualTo(Sale.ORDERS - Sale.STOCK);
		assertThat(result.stock()).containsOnly(0L);
		assertThat(result.lowestStock()).isZero();
	}

}
