package io.github.holdfast.handover;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
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

	private final AtomicInteger runs = new AtomicInteger();

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jobIsNotRunAgainWithinItsMinimumHoldTime(TestDatabase database) {
		try (Node punctual = Node.first(database); Node late = punctual.other()) {
			punctual.locks.withMinHoldTime(LONG).run("job", this.runs::incrementAndGet);
			assertBusy(late);
			assertBusy(punctual);
			punctual.shutDown();
			assertBusy(late);
		}
		assertThat(this.runs).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jobIsRunAgainAfterItsMinimumHoldTime(TestDatabase database) {
		try (Node punctual = Node.first(database); Node late = punctual.other()) {
			assertRunAgainAfterTheTime(punctual, late);
			assertRunAgainAfterTheTime(punctual, punctual);
		}
	}

	private void assertBusy(Node node) {
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(
				() -> node.locks.withWaitTime(Node.LEASE_TIME.multipliedBy(2)).run("job", this.runs::incrementAndGet))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY));
	}

	private static void assertRunAgainAfterTheTime(Node first, Node second) {
		long start = System.nanoTime();
		first.locks.withLeaseTime(LONG).withMinHoldTime(SHORT).run("job", () -> {
		});
		second.locks.withWaitTime(Duration.ofMinutes(1))
			.run("job", () -> assertThat(System.nanoTime() - start)
				.isGreaterThanOrEqualTo(SHORT.minus(RESOLUTION).toNanos()));
	}

	/**
	 * A node with connections and a local queue of its own.
	 */
	private static final class Node implements AutoCloseable {

		private static final Duration LEASE_TIME = Duration.ofMillis(500);

		private final DatabaseAccess access;

		private final HikariDataSource dataSource;

		private final LockTemplate locks;

		private Node(DatabaseAccess access) {
			this.access = access;
			this.dataSource = access.dataSource(5);
			this.locks = new LockTemplate(() -> new HandoverLockBackend(new JdbcLockBackend(() -> this.dataSource)),
					List::of)
				.withLeaseTime(LEASE_TIME);
		}

		private static Node first(TestDatabase database) {
			Node node = new Node(database.newDatabase());
			DatabaseAccess.runScript(node.dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			return node;
		}

		private Node other() {
			return new Node(this.access);
		}

		@Override
		public void close() {
			shutDown();
		}

		private void shutDown() {
			this.locks.close();
			this.dataSource.close();
		}

	}

}
