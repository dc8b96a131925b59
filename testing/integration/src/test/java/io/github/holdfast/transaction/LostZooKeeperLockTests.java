package io.github.holdfast.transaction;

import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder loses its session while it works, or ZooKeeper loses its data.
 */
@Timeout(180)
class LostZooKeeperLockTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/**
	 * The transaction ids of the new servers are smaller than those in the fence table.
	 */
	@ParameterizedTest
	@EnumSource(names = "H2")
	@Tag("F17")
	void noUpdateIsLostAtFenceWhenZooKeeperIsSetUpAnew(TestDatabase database) {
		runWithNewServers(database, CommitGuardLevel.FENCE);
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	@Tag("F17")
	@Tag("long")
	void noUpdateIsLostAtFenceWhenZooKeeperIsSetUpAnewOnOtherDatabases(TestDatabase database) {
		runWithNewServers(database, CommitGuardLevel.FENCE);
	}

	@ParameterizedTest
	@EnumSource(names = "H2")
	@Tag("F17")
	@Tag("long")
	void noUpdateIsLostAtLeaseWhenZooKeeperIsSetUpAnew(TestDatabase database) {
		runWithNewServers(database, CommitGuardLevel.LEASE);
	}

	private static void runWithNewServers(TestDatabase database, CommitGuardLevel level) {
		try (ZooKeeperServer server = ZooKeeperServer.start();
				ZooKeeperServer anew = ZooKeeperServer.start();
				FaultProxy proxy = new FaultProxy(server.port())) {
			TwoNodes.run(LockedApplication.zooKeeper(database.newDatabase(), "127.0.0.1:" + proxy.port())
				.withPropertyValues("holdfast.zookeeper.session-timeout=5s"), level, (nodes) -> {
					for (int i = 0; i < 30; i++) {
						nodes.sell();
					}
					TwoNodes.Sales sales = nodes.sellAtTheSameTime(() -> proxy.redirect(anew.port()));
					assertThat(sales.refusal()).isNotNull();
					assertThat(nodes.quantity()).isEqualTo(69);
					if (level == CommitGuardLevel.FENCE) {
						assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
						assertThat(nodes.sell()).isGreaterThan(sales.secondToken());
					}
				});
		}
	}

	@ParameterizedTest
	@EnumSource(names = "H2")
	@Tag("F12")
	@Tag("F13")
	void pausedHolderCannotCommitAndAKilledOneFreesItsLock(TestDatabase database) throws Exception {
		pauseAndKill(database, CommitGuardLevel.FENCE);
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	@Tag("F12")
	@Tag("F13")
	@Tag("long")
	void pausedHolderCannotCommitAndAKilledOneFreesItsLockOnOtherDatabases(TestDatabase database) throws Exception {
		pauseAndKill(database, CommitGuardLevel.FENCE);
	}

	/**
	 * The pause is over before the check begins, so the clock of the process tells it.
	 */
	@ParameterizedTest
	@EnumSource(names = "H2")
	@Tag("F13")
	@Tag("long")
	void pausedHolderCannotCommitAtLeaseEither(TestDatabase database) throws Exception {
		pauseAndKill(database, CommitGuardLevel.LEASE);
	}

	private static void pauseAndKill(TestDatabase database, CommitGuardLevel level) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (ZooKeeperServer server = ZooKeeperServer.start();
				ChildJvm holder = ChildJvm.start(ZooKeeperHolder.class, level.name(), access.url(), access.user(),
						access.password(), String.valueOf(server.port()))) {
			holder.await("READY", PATIENCE);
			ZooKeeperHolder.application(level, access, server.port()).run((context) -> {
				StockService stock = context.getBean(StockService.class);
				holder.send("take");
				holder.await("READ", PATIENCE);
				holder.pause();
				stock.take("A", () -> {
				});
				holder.resume();
				holder.send("go on");
				assertThat(holder.await("REJECTED ", PATIENCE)).isEqualTo("LockLostException");
				assertThat(stock.quantity("A")).isEqualTo(99);
				holder.send("take");
				holder.await("READ", PATIENCE);
				holder.kill();
				stock.take("A", () -> {
				});
				assertThat(stock.quantity("A")).isEqualTo(98);
			});
		}
	}

}
