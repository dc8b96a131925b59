package io.github.holdfast.fence;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackend.Eviction;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locks that are taken away from their holders, in a store beside the business database.
 */
@Tag("F81")
class FenceEvictionTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void evictedHolderCannotCommit(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			LockLease lease = node.acquired(false);
			assertThat(node.holds(lease)).isTrue();
			assertThat(node.evict(lease)).isEqualTo(Eviction.EVICTED);
			assertThat(node.holds(lease)).isFalse();
			assertThat(lease.renew(Duration.ofSeconds(60))).isFalse();
			assertThat(node.store.holder("key")).isNull();
		}
	}

	/**
	 * The control: nobody has taken the lock since.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderThatIsEvictedInTheStoreOnlyCanCommit(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			LockLease lease = node.acquired(false);
			assertThat(node.store.evict("key", lease.owner(), lease.epoch())).isEqualTo(Eviction.EVICTED);
			assertThat(node.holds(lease)).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void evictedHolderCannotClaim(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			node.acquired(false).release().toCompletableFuture().join();
			LockLease lease = node.acquired(true);
			assertThat(node.holds(lease)).as("it has not been written").isFalse();
			assertThat(node.evict(lease)).isEqualTo(Eviction.EVICTED);
			assertThat(node.claims(lease)).isFalse();
			LockLease next = node.acquired(true);
			assertThat(node.claims(next) || node.holds(next)).isTrue();
		}
	}

	/**
	 * The control.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderThatIsEvictedInTheStoreOnlyCanClaim(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			node.acquired(false).release().toCompletableFuture().join();
			LockLease lease = node.acquired(true);
			assertThat(node.store.evict("key", lease.owner(), lease.epoch())).isEqualTo(Eviction.EVICTED);
			assertThat(node.claims(lease)).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderWhoseTransactionHasTheRowLockedIsNotEvicted(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			node.acquired(false).release().toCompletableFuture().join();
			LockLease lease = node.acquired(true);
			node.inTransaction((connection) -> {
				assertThat(node.table.claims().claim(connection, List.of(lease), false)).isTrue();
				assertThat(node.evict(lease)).isEqualTo(Eviction.IN_TRANSACTION);
				assertThat(lease.renew(Duration.ofSeconds(60))).as("it still has its lock").isTrue();
				connection.rollback();
				return true;
			});
			assertThat(node.evict(lease)).isEqualTo(Eviction.EVICTED);
			assertThat(node.claims(lease)).isFalse();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void successorIsNotTouched(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			LockLease first = node.acquired(false);
			assertThat(node.evict(first)).isEqualTo(Eviction.EVICTED);
			LockLease second = node.acquired(false);
			assertThat(second.epoch()).isGreaterThan(first.epoch());
			assertThat(node.evict(first)).isEqualTo(Eviction.NOT_HELD);
			assertThat(node.fenced.evict("key", first.owner(), second.epoch())).isEqualTo(Eviction.NOT_HELD);
			assertThat(node.fenced.evict("key", second.owner(), second.epoch() + 1)).isEqualTo(Eviction.NOT_HELD);
			assertThat(node.holds(second)).isTrue();
			assertThat(second.renew(Duration.ofSeconds(60))).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderWhoseLeaseIsGoneInTheStoreIsKeptFromCommitting(TestDatabase database) throws Exception {
		try (Node node = new Node(database)) {
			LockLease lease = node.acquired(false);
			new JdbcTemplate(node.locks).update("DELETE FROM holdfast_lock");
			assertThat(node.holds(lease)).isTrue();
			assertThat(node.evict(lease)).isEqualTo(Eviction.EVICTED);
			assertThat(node.holds(lease)).isFalse();
		}
	}

	/**
	 * Whoever is told that it cannot be done can rely on that nothing was.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderThatCannotBeEvictedCanCommit(TestDatabase database) throws Exception {
		try (Node node = new Node(database, (locks) -> new LocalLockBackend())) {
			LockLease lease = node.acquired(false);
			assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> node.evict(lease));
			assertThat(node.holds(lease)).isTrue();
			lease.release().toCompletableFuture().join();
		}
	}

	/**
	 * A store in one database, and the fence table in another one.
	 */
	private static final class Node implements AutoCloseable {

		private final HikariDataSource locks;

		private final HikariDataSource business;

		private final FenceTable table;

		private final LockBackend store;

		private final LockBackend fenced;

		private Node(TestDatabase database) {
			this(database, (locks) -> new JdbcLockBackend(() -> locks));
		}

		private Node(TestDatabase database, Function<DataSource, LockBackend> store) {
			this.locks = TestDatabase.H2.newDatabase().dataSource(4);
			this.business = database.newDatabase().dataSource(4);
			this.table = new FenceTable(() -> this.business, "test");
			this.store = store.apply(this.locks);
			this.fenced = new FencedLockBackend(this.store, this.table);
			DatabaseAccess.runScript(this.locks, "io/github/holdfast/jdbc/schema-h2.sql");
			DatabaseAccess.runScript(this.business,
					"io/github/holdfast/jdbc/fence-schema-" + database.platform() + ".sql");
		}

		private LockLease acquired(boolean claims) throws InterruptedException {
			LockRequest request = new LockRequest("key", "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO,
					Duration.ofSeconds(60), UUID.randomUUID().toString(), "test", 0);
			LockLease lease = this.fenced.acquire(new LockRequest(request.key(), request.name(), request.mode(), false,
					request.waitTime(), request.leaseTime(), request.identity(), 0, claims));
			assertThat(lease).isNotNull();
			return lease;
		}

		private Eviction evict(LockLease lease) throws InterruptedException {
			return this.fenced.evict(lease.key(), lease.owner(), lease.epoch());
		}

		private boolean holds(LockLease lease) {
			return Boolean.TRUE.equals(new TransactionTemplate(new JdbcTransactionManager(this.business))
				.execute((status) -> this.table.fence().holds(this.business, lease, false)));
		}

		private boolean claims(LockLease lease) throws Exception {
			return inTransaction((connection) -> {
				boolean claimed = this.table.claims().claim(connection, List.of(lease), false);
				connection.rollback();
				return claimed;
			});
		}

		private boolean inTransaction(Work work) throws Exception {
			try (Connection connection = this.business.getConnection()) {
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
				connection.setAutoCommit(false);
				return work.run(connection);
			}
		}

		@Override
		public void close() {
			this.locks.close();
			this.business.close();
		}

	}

	private interface Work {

		boolean run(Connection connection) throws Exception;

	}

}
