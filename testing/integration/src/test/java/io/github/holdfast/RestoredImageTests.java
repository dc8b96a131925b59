package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.RestoredNode.Store;
import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two JVMs that were restored from one image, as by CRaC or from the snapshot of a
 * machine, want the same lock.
 */
@Tag("long")
class RestoredImageTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource
	void oneOfThemHoldsTheLockInATable(TestDatabase database) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (HikariDataSource pool = access.dataSource(1)) {
			DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		}
		assertOneHolder(Store.JDBC, access.url(), access.user(), access.password());
	}

	@Test
	void oneOfThemHoldsTheLockInRedis() {
		try (RedisServer server = RedisServer.start()) {
			assertOneHolder(Store.REDIS, Integer.toString(server.port()));
		}
	}

	@Test
	void oneOfThemHoldsTheLockInAQuorum() {
		try (RedisQuorum quorum = new RedisQuorum()) {
			assertOneHolder(Store.QUORUM, quorum.nodes().toArray(String[]::new));
		}
	}

	@Test
	void oneOfThemHoldsTheLockThroughRedisson() {
		try (RedisServer server = RedisServer.start()) {
			assertOneHolder(Store.REDISSON, Integer.toString(server.port()));
		}
	}

	@Test
	@RequiresEtcd
	void oneOfThemHoldsTheLockInEtcd() {
		try (EtcdServer server = EtcdServer.start()) {
			assertOneHolder(Store.ETCD, server.endpoint());
		}
	}

	@Test
	void oneOfThemHoldsTheLockInZooKeeper() {
		try (ZooKeeperServer server = ZooKeeperServer.start()) {
			assertOneHolder(Store.ZOOKEEPER, Integer.toString(server.port()));
		}
	}

	private static void assertOneHolder(Store store, String... address) {
		List<String> args = new ArrayList<>(List.of(store.name()));
		args.addAll(List.of(address));
		try (ChildJvm first = ChildJvm.start(RestoredNode.class, args.toArray(String[]::new));
				ChildJvm second = ChildJvm.start(RestoredNode.class, args.toArray(String[]::new))) {
			assertSameImage(store, first, second);
			first.send("acquire");
			first.await("held", TIMEOUT);
			second.send("acquire");
			assertThat(second.await("refused ", TIMEOUT)).isEqualTo("BUSY");
			first.send("release");
			first.await("released", TIMEOUT);
			second.send("acquire");
			second.await("held", TIMEOUT);
			second.send("release");
			second.await("released", TIMEOUT);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void assertSameImage(Store store, ChildJvm first, ChildJvm second) throws InterruptedException {
		assertThat(first.await("image", TIMEOUT)).isEqualTo(second.await("image", TIMEOUT));
		if (store == Store.REDISSON) {
			assertThat(first.await("client", TIMEOUT)).isEqualTo(second.await("client", TIMEOUT));
		}
	}

}
