package io.github.holdfast.store;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A short scheduled job on two nodes, one of which has a clock that is late.
 */
class JobOnTwoNodesTests {

	private static final Duration LONG = Duration.ofMinutes(5);

	private static final Duration SHORT = Duration.ofSeconds(1);

	/** The database's clock and ours may be read at different resolutions. */
	private static final Duration RESOLUTION = Duration.ofMillis(20);

	private final String key = "job-" + UUID.randomUUID();

	private final AtomicInteger runs = new AtomicInteger();

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jobIsNotRunAgainWithinItsMinimumHoldTime(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (Node punctual = Node.jdbc(access, database); Node late = Node.jdbc(access, database)) {
			assertNotRunAgainWithinTheTime(punctual, late);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jobIsRunAgainAfterItsMinimumHoldTime(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (Node punctual = Node.jdbc(access, database); Node late = Node.jdbc(access, database)) {
			assertRunAgainAfterTheTime(punctual, late);
			assertRunAgainAfterTheTime(punctual, punctual);
		}
	}

	@Test
	void jobIsNotRunAgainWithinItsMinimumHoldTimeOnRedis() {
		try (Node punctual = Node.redis(); Node late = Node.redis()) {
			assertNotRunAgainWithinTheTime(punctual, late);
		}
	}

	@Test
	void jobIsRunAgainAfterItsMinimumHoldTimeOnRedis() {
		try (Node punctual = Node.redis(); Node late = Node.redis()) {
			assertRunAgainAfterTheTime(punctual, late);
			assertRunAgainAfterTheTime(punctual, punctual);
		}
	}

	private void assertNotRunAgainWithinTheTime(Node punctual, Node late) {
		punctual.locks.withMinHoldTime(LONG).run(this.key, this.runs::incrementAndGet);
		assertBusy(late, Node.LEASE_TIME.dividedBy(2));
		assertBusy(punctual, Duration.ZERO);
		punctual.shutDown();
		assertBusy(late, Node.LEASE_TIME.plusMillis(500));
		assertThat(this.runs).hasValue(1);
	}

	private void assertBusy(Node node, Duration waitTime) {
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> node.locks.withWaitTime(waitTime).run(this.key, this.runs::incrementAndGet))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY));
	}

	private void assertRunAgainAfterTheTime(Node first, Node second) {
		long start = System.nanoTime();
		first.locks.withLeaseTime(LONG).withMinHoldTime(SHORT).run(this.key, () -> {
		});
		second.locks.withWaitTime(Duration.ofMinutes(1))
			.run(this.key, () -> assertThat(System.nanoTime() - start)
				.isGreaterThanOrEqualTo(SHORT.minus(RESOLUTION).toNanos()));
	}

	/**
	 * A node with connections and a local queue of its own.
	 */
	private static final class Node implements AutoCloseable {

		private static final Duration LEASE_TIME = Duration.ofSeconds(3);

		private final LockTemplate locks;

		private final Runnable connections;

		private Node(LockBackend backend, Runnable connections) {
			this.locks = new LockTemplate(() -> new HandoverLockBackend(backend), List::of).withLeaseTime(LEASE_TIME);
			this.connections = connections;
			// The first use may take longer than the lease
			this.locks.withLeaseTime(LONG).run("warm-up-" + UUID.randomUUID(), () -> {
			});
		}

		private static Node jdbc(DatabaseAccess access, TestDatabase database) {
			HikariDataSource dataSource = access.dataSource(5);
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			return new Node(new JdbcLockBackend(() -> dataSource), dataSource::close);
		}

		private static Node redis() {
			RedisConnectionFactory connections = RedisConnections.lettuce(RedisServer.shared().port());
			return new Node(new RedisLockBackend(() -> connections), () -> RedisConnections.close(connections));
		}

		@Override
		public void close() {
			shutDown();
			this.connections.run();
		}

		private void shutDown() {
			TemplateAccess.close(this.locks);
		}

	}

}
