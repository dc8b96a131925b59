package io.github.holdfast.sample.wms.proof;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.sample.wms.zookeeper.EmbeddedZooKeeper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The proof with the locks in ZooKeeper.
 */
class ZooKeeperOversellProofIT {

	@Test
	void sellsExactlyWhatThereIsWhenNodeIsKilled() throws Exception {
		try (TestDatabase database = TestDatabase.mariaDb();
				EmbeddedZooKeeper zooKeeper = EmbeddedZooKeeper.start();
				Cluster cluster = start(database, zooKeeper)) {
			sellWhileNodeIsKilled(database, cluster);
		}
	}

	@Test
	@Tag("long")
	void sellsExactlyWhatThereIsOnPostgresAndAlsoWhenNodeIsKilled() throws Exception {
		try (TestDatabase database = TestDatabase.postgres();
				EmbeddedZooKeeper zooKeeper = EmbeddedZooKeeper.start();
				Cluster cluster = start(database, zooKeeper)) {
			AbstractOversellProof
				.assertSoldOut(new Sale(database, cluster).run("zookeeper, locks on, three SKUs an order",
						AbstractOversellProof.SKUS_IN_ANY_ORDER, AbstractOversellProof.NOTHING));
			sellWhileNodeIsKilled(database, cluster);
		}
	}

	private static void sellWhileNodeIsKilled(TestDatabase database, Cluster cluster) throws Exception {
		Sale.Result result = new Sale(database, cluster).run("zookeeper, locks on, one node killed",
				List.of(List.of("A")), AbstractOversellProof.halfWay(cluster::killFirst));
		assertThat(result.retries()).isPositive();
		AbstractOversellProof.assertSoldOut(result);
	}

	private static Cluster start(TestDatabase database, EmbeddedZooKeeper zooKeeper) throws Exception {
		List<String> arguments = new ArrayList<>(database.arguments());
		Collections.addAll(arguments, "--spring.profiles.active=zookeeper",
				"--holdfast.zookeeper.connect-string=127.0.0.1:" + zooKeeper.port(),
				"--holdfast.zookeeper.session-timeout=4s");
		return Cluster.start(database.name() + "-zookeeper", arguments);
	}

}
