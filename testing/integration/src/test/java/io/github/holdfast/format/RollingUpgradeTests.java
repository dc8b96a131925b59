package io.github.holdfast.format;

import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes of one application with different versions of Holdfast, as during a rolling
 * upgrade. The other version is the jar or the folder that the property
 * {@code test.other-version} names; without it, it is this one. Only
 * {@code compatibility/rolling-upgrade} runs it.
 */
@Tag("upgrade")
@Timeout(240)
class RollingUpgradeTests {

	private static final String OWN_VERSION = DistributedLock.class.getProtectionDomain()
		.getCodeSource()
		.getLocation()
		.getPath()
		.replaceAll("/$", "");

	private static final String OTHER_VERSION = System.getProperty("test.other-version", OWN_VERSION);

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final int CALLS = 300;

	private final DatabaseAccess database = TestDatabase.POSTGRESQL.newDatabase();

	private final JdbcTemplate jdbc = new JdbcTemplate(this.database.dataSource(2));

	@BeforeEach
	void createCounter() {
		this.jdbc.execute("CREATE TABLE counter (count INT NOT NULL)");
		this.jdbc.execute("CREATE TABLE committed (id SERIAL PRIMARY KEY, count INT NOT NULL, token BIGINT NOT NULL)");
		this.jdbc.execute("INSERT INTO counter VALUES (0)");
	}

	@ParameterizedTest
	@EnumSource
	void versionsExcludeEachOther(Store store) throws Exception {
		try (Servers servers = new Servers(store);
				ChildJvm other = node(OTHER_VERSION, servers);
				ChildJvm own = node(OWN_VERSION, servers)) {
			runBoth(other, own);
		}
		assertThat(count()).isEqualTo(2 * CALLS);
		assertThat(tokens()).hasSize(2 * CALLS).isSorted();
	}

	@ParameterizedTest
	@EnumSource
	void versionsWithDifferentPrefixesLoseUpdates(Store store) throws Exception {
		try (Servers servers = new Servers(store);
				ChildJvm other = node(OTHER_VERSION, servers, "holdfast.key-prefix=other:");
				ChildJvm own = node(OWN_VERSION, servers)) {
			runBoth(other, own);
		}
		assertThat(count()).isLessThan(2 * CALLS);
	}

	@ParameterizedTest
	@EnumSource
	void versionTakesOverWhenANodeOfTheOtherOneDies(Store store) throws Exception {
		try (Servers servers = new Servers(store); ChildJvm own = node(OWN_VERSION, servers)) {
			takeOver(node(OTHER_VERSION, servers), own);
			try (ChildJvm other = node(OTHER_VERSION, servers)) {
				takeOver(own, other);
			}
		}
		assertThat(count()).isEqualTo(2);
		assertThat(tokens()).hasSize(2).isSorted();
	}

	private static void runBoth(ChildJvm other, ChildJvm own) throws InterruptedException {
		other.send(Integer.toString(CALLS));
		own.send(Integer.toString(CALLS));
		assertThat(other.await("DONE ", PATIENCE)).isEqualTo("committed");
		assertThat(own.await("DONE ", PATIENCE)).isEqualTo("committed");
	}

	private static void takeOver(ChildJvm dying, ChildJvm next) throws InterruptedException {
		try (dying) {
			dying.send("pause");
			dying.await("PAUSED", PATIENCE);
			next.send("1");
		}
		assertThat(next.await("DONE ", PATIENCE)).isEqualTo("committed");
	}

	private int count() {
		Integer count = this.jdbc.queryForObject("SELECT count FROM counter", Integer.class);
		assertThat(count).isNotNull();
		return count;
	}

	private List<Long> tokens() {
		return this.jdbc.queryForList("SELECT token FROM committed ORDER BY count", Long.class);
	}

	private ChildJvm node(String version, Servers servers, String... properties) throws InterruptedException {
		String path = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> entry.replaceAll("/$", "").equals(OWN_VERSION) ? version : entry)
			.reduce((first, second) -> first + File.pathSeparator + second)
			.orElseThrow();
		String[] arguments = Stream
			.of(Stream.of(this.database.url(), this.database.user(), this.database.password(), "holdfast.wait-time=60s",
					"holdfast.lease-time=3s", "holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always"),
					servers.properties(), Stream.of(properties))
			.flatMap((each) -> each)
			.toArray(String[]::new);
		ChildJvm node = ChildJvm.start(List.of("-cp", path), UpgradedNode.class, arguments);
		assertThat(node.await("VERSION ", PATIENCE)).contains(version);
		return node;
	}

	enum Store {

		JDBC, REDIS, ZOOKEEPER

	}

	private static final class Servers implements AutoCloseable {

		private final Store store;

		private final ZooKeeperServer zooKeeper;

		Servers(Store store) {
			this.store = store;
			this.zooKeeper = (store == Store.ZOOKEEPER) ? ZooKeeperServer.start() : null;
		}

		Stream<String> properties() {
			return switch (this.store) {
				case JDBC -> Stream.of("holdfast.backend=jdbc");
				case REDIS -> Stream.of("holdfast.backend=redis", "spring.data.redis.host=127.0.0.1",
						"spring.data.redis.port=" + RedisServer.shared().port());
				case ZOOKEEPER -> Stream.of("holdfast.backend=zookeeper",
						"holdfast.zookeeper.connect-string=127.0.0.1:" + this.zooKeeper.port());
			};
		}

		@Override
		public void close() {
			if (this.zooKeeper != null) {
				this.zooKeeper.close();
			}
		}

	}

}
