package io.github.holdfast.format;

import java.time.Duration;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes of one application with different backends, as while its backend is changed.
 * The stores do not know of each other, so both nodes hold the lock at the same time.
 * They count in one row, whose database decides who commits if both name the same source.
 */
@Timeout(600)
class BackendChangeTests {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final int CALLS = 100;

	private static final String SAME_SOURCE = "holdfast.fence.source=shop";

	private final DatabaseAccess database = TestDatabase.POSTGRESQL.newDatabase();

	private final HikariDataSource pool = this.database.dataSource(2);

	private final JdbcTemplate jdbc = new JdbcTemplate(this.pool);

	private final RedisServer secondRedis = RedisServer.start();

	private final ZooKeeperServer zooKeeper = ZooKeeperServer.start();

	@BeforeEach
	void createCounter() {
		this.jdbc.execute("CREATE TABLE counter (count INT NOT NULL)");
		this.jdbc.execute("CREATE TABLE committed (id SERIAL PRIMARY KEY, count INT NOT NULL, token BIGINT NOT NULL)");
		this.jdbc.execute("INSERT INTO counter VALUES (0)");
	}

	@AfterEach
	void close() {
		this.zooKeeper.close();
		this.secondRedis.close();
		this.pool.close();
	}

	@ParameterizedTest
	@CsvSource("redis, zookeeper")
	void storesOfOneSourceLoseNoUpdate(String old, String next) throws Exception {
		assertThat(count(old, next, SAME_SOURCE)).isEqualTo(2 * CALLS);
	}

	@RequiresEtcd
	@ParameterizedTest
	@CsvSource({ "redis, second-redis", "zookeeper, etcd", "etcd, redis" })
	@Tag("long")
	@Tag("night")
	void otherStoresOfOneSourceLoseNoUpdate(String old, String next) throws Exception {
		assertThat(count(old, next, SAME_SOURCE)).isEqualTo(2 * CALLS);
	}

	@ParameterizedTest
	@CsvSource("redis, zookeeper")
	void holderThatIsSupersededInTheOtherStoreCommitsNothing(String paused, String next) throws Exception {
		supersede(paused, next);
	}

	@ParameterizedTest
	@CsvSource("zookeeper, redis")
	@Tag("long")
	@Tag("night")
	void holderThatIsSupersededWhenTheBackendIsChangedBackCommitsNothing(String paused, String next) throws Exception {
		supersede(paused, next);
	}

	private void supersede(String paused, String next) throws Exception {
		try (ChildJvm holder = node(paused, SAME_SOURCE); ChildJvm other = node(next, SAME_SOURCE)) {
			holder.send("pause");
			holder.await("PAUSED", PATIENCE);
			other.send("1");
			assertThat(other.await("DONE ", PATIENCE)).isEqualTo("committed");
			holder.send("go on");
			assertThat(holder.await("DONE ", PATIENCE)).isEqualTo("LockLostException");
		}
		assertThat(count()).isOne();
	}

	/** The control: what is left out decides. */
	@ParameterizedTest
	@CsvSource("redis, zookeeper, holdfast.commit-guard=fence")
	void storesLoseUpdatesWithoutOneSource(String old, String next, String property) throws Exception {
		assertThat(count(old, next, property)).isLessThan(2 * CALLS);
	}

	/** The control for a change from the table, which has no source. */
	@ParameterizedTest
	@CsvSource("jdbc, redis, " + SAME_SOURCE)
	@Tag("long")
	@Tag("night")
	void tableAndOtherStoreLoseUpdates(String old, String next, String property) throws Exception {
		assertThat(count(old, next, property)).isLessThan(2 * CALLS);
	}

	private int count(String old, String next, String property) throws InterruptedException {
		try (ChildJvm one = node(old, property); ChildJvm other = node(next, property)) {
			one.await("VERSION ", PATIENCE);
			other.await("VERSION ", PATIENCE);
			one.send(CALLS + " retried");
			other.send(CALLS + " retried");
			assertThat(one.await("DONE ", PATIENCE)).startsWith("committed");
			assertThat(other.await("DONE ", PATIENCE)).startsWith("committed");
		}
		return count();
	}

	private int count() {
		Integer count = this.jdbc.queryForObject("SELECT count FROM counter", Integer.class);
		assertThat(count).isNotNull();
		return count;
	}

	private ChildJvm node(String backend, String property) {
		return ChildJvm.start(UpgradedNode.class,
				Stream
					.concat(Stream.of(this.database.url(), this.database.user(), this.database.password(),
							"holdfast.wait-time=60s", "holdfast.lease-time=10s", "holdfast.commit-guard=fence",
							"holdfast.fence.initialize-schema=always",
							"holdfast.backend=" + backend.replace("second-", ""), property), connection(backend))
					.toArray(String[]::new));
	}

	private Stream<String> connection(String backend) {
		return switch (backend) {
			case "redis" -> redis(RedisServer.shared());
			case "second-redis" -> redis(this.secondRedis);
			case "zookeeper" -> Stream.of("holdfast.zookeeper.connect-string=127.0.0.1:" + this.zooKeeper.port());
			case "etcd" -> Stream.of("holdfast.etcd.endpoints=" + EtcdServer.shared().endpoint());
			default -> Stream.empty();
		};
	}

	private static Stream<String> redis(RedisServer server) {
		return Stream.of("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port());
	}

}
