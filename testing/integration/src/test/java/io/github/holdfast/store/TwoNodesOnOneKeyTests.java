package io.github.holdfast.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.zookeeper.ZooKeeperLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two nodes with many threads each want the same key all the time.
 */
class TwoNodesOnOneKeyTests {

	private static final int THREADS = 16;

	/** For all calls of a test on a slow machine. */
	private static final Duration ENOUGH = Duration.ofMinutes(3);

	private final String key = "hot-" + UUID.randomUUID();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<Runnable> connections = new ArrayList<>();

	private final AtomicBoolean enough = new AtomicBoolean();

	/** Not atomic: only the lock keeps the increments apart. */
	private long counter;

	private long lastToken;

	@AfterEach
	void close() {
		this.enough.set(true);
		this.threads.shutdownNow();
		this.connections.forEach(Runnable::run);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 16 })
	void nodesOnRedisLoseNothingAndNoneStarves(int maxTurns) throws Exception {
		assertNothingIsLostAndNoneStarves(redis(maxTurns), redis(maxTurns));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 16 })
	void nodesOnTheLockTableLoseNothingAndNoneStarves(int maxTurns) throws Exception {
		DatabaseAccess access = TestDatabase.H2.newDatabase();
		assertNothingIsLostAndNoneStarves(jdbc(access, maxTurns), jdbc(access, maxTurns));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 16 })
	void nodesOnZooKeeperLoseNothingAndNoneStarves(int maxTurns) throws Exception {
		try (ZooKeeperServer server = ZooKeeperServer.start()) {
			assertNothingIsLostAndNoneStarves(zooKeeper(server, maxTurns), zooKeeper(server, maxTurns));
		}
	}

	@Test
	void nodeOnRedisGetsTheLockAlthoughAnotherOneNeverStopsToWantIt() throws Exception {
		assertOtherGetsTheLock(redis(16), redis(16));
	}

	@Test
	void nodeOnZooKeeperGetsTheLockAlthoughAnotherOneNeverStopsToWantIt() throws Exception {
		try (ZooKeeperServer server = ZooKeeperServer.start()) {
			assertOtherGetsTheLock(zooKeeper(server, 16), zooKeeper(server, 16));
		}
	}

	private void assertOtherGetsTheLock(Node busy, Node other) throws Exception {
		busy.start();
		await().atMost(ENOUGH).until(() -> busy.calls > 1000);
		other.locks.run(this.key, () -> assertThat(LockContext.current()).isPresent());
		stop(busy);
	}

	private void assertNothingIsLostAndNoneStarves(Node first, Node second) throws Exception {
		first.start();
		second.start();
		await().atMost(ENOUGH).until(() -> first.calls > 200 && second.calls > 200);
		stop(first, second);
		assertThat(this.counter).isEqualTo(first.calls + second.calls);
	}

	private void stop(Node... nodes) throws Exception {
		this.enough.set(true);
		for (Node node : nodes) {
			for (Future<?> caller : node.callers) {
				caller.get();
			}
		}
	}

	private Node redis(int maxTurns) {
		RedisConnectionFactory factory = RedisConnections.lettuce(RedisServer.shared().port());
		this.connections.add(() -> RedisConnections.close(factory));
		return new Node(new RedisLockBackend(() -> factory), maxTurns);
	}

	private Node jdbc(DatabaseAccess access, int maxTurns) {
		HikariDataSource dataSource = access.dataSource(8);
		this.connections.add(dataSource::close);
		DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-h2.sql");
		return new Node(new JdbcLockBackend(() -> dataSource), maxTurns);
	}

	private Node zooKeeper(ZooKeeperServer server, int maxTurns) {
		CuratorFramework client = server.client();
		this.connections.add(client::close);
		return new Node(new ZooKeeperLockBackend(() -> client), maxTurns);
	}

	/**
	 * A node with connections and a local queue of its own.
	 */
	private final class Node {

		private final LockTemplate locks;

		private final List<Future<?>> callers = new ArrayList<>();

		private volatile long calls;

		private Node(LockBackend store, int maxTurns) {
			LockBackend backend = new HandoverLockBackend(store,
					new HandoverLimits(maxTurns, Duration.ofMillis(100), (name) -> true), QueueLimits.DEFAULT);
			this.locks = new LockTemplate(() -> backend, List::of).withWaitTime(Duration.ofMinutes(1));
			TwoNodesOnOneKeyTests.this.connections.add(0, () -> TemplateAccess.close(this.locks));
		}

		private void start() {
			for (int i = 0; i < THREADS; i++) {
				this.callers.add(TwoNodesOnOneKeyTests.this.threads.submit(this::callUntilItIsEnough));
			}
		}

		private void callUntilItIsEnough() {
			while (!TwoNodesOnOneKeyTests.this.enough.get()) {
				this.locks.run(TwoNodesOnOneKeyTests.this.key, this::call);
			}
		}

		@SuppressWarnings("NonAtomicOperationOnVolatileField")
		private void call() {
			TwoNodesOnOneKeyTests test = TwoNodesOnOneKeyTests.this;
			long token = LockContext.current().orElseThrow().fencingToken();
			assertThat(token).isGreaterThan(test.lastToken);
			test.lastToken = token;
			test.counter++;
			this.calls++;
		}

	}

}
