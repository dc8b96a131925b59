package io.github.holdfast.fence;

import java.sql.Connection;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Leases of a store that is another database than the one with the fence table.
 */
class FencedLockBackendTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Duration LEASE_TIME = Duration.ofSeconds(2);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void leaseIsInstalledBeforeItIsReturned(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			LockLease lease = databases.fenced().acquire(request(Duration.ZERO));
			assertThat(lease).isNotNull();
			assertThat(databases.holds(lease)).isTrue();
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F13")
	void lateInstallationIsRefusedAndTheLockAcquiredAnew(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			AtomicReference<LockLease> successor = new AtomicReference<>();
			LockBackend slow = databases.pausedAfterAcquiring((lease) -> {
				databases.expireLease();
				successor.set(databases.fenced().acquire(request(Duration.ZERO)));
				CompletableFuture.runAsync(() -> {
					await().until(() -> databases.holds(successor.get()));
					successor.get().release();
				}, (task) -> new Thread(task).start());
			});
			LockLease lease = slow.acquire(request(LONG));
			assertThat(successor.get()).isNotNull();
			assertThat(lease).isNotNull();
			assertThat(lease.epoch()).isGreaterThan(successor.get().epoch());
			assertThat(databases.holds(lease)).isTrue();
			assertThat(databases.holds(successor.get())).isFalse();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lateInstallationIsRefusedWithoutWaiting(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			AtomicReference<LockLease> successor = new AtomicReference<>();
			LockBackend slow = databases.pausedAfterAcquiring((lease) -> {
				databases.expireLease();
				successor.set(databases.fenced().acquire(request(Duration.ZERO, LONG)));
			});
			assertThat(slow.acquire(request(Duration.ZERO))).isNull();
			assertThat(databases.holds(successor.get())).isTrue();
			assertThat(successor.get().renew(LEASE_TIME)).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F29")
	void openTransactionOfThePredecessorIsWaitedForWhileTheLeaseIsRenewed(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			long[] epoch = new long[1];
			FutureTask<LockLease> successor = databases.whilePredecessorCommits(() -> {
				FutureTask<LockLease> waiting = start(databases.fenced(), request(LONG, Duration.ofSeconds(6)));
				long firstEnd = databases.awaitExpiresAtAbove(0);
				epoch[0] = databases.lockEpoch();
				databases.awaitExpiresAtAbove(firstEnd);
				assertThat(waiting.isDone()).isFalse();
				return waiting;
			});
			LockLease lease = successor.get(60, TimeUnit.SECONDS);
			assertThat(lease).isNotNull();
			assertThat(lease.epoch()).as("that of the first grant").isEqualTo(epoch[0]);
			assertThat(lease.isValid()).isTrue();
			assertThat(databases.holds(lease)).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void openTransactionOfThePredecessorEndsTheWait(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			databases.whilePredecessorCommits(() -> {
				for (Duration waitTime : List.of(Duration.ZERO, Duration.ofMillis(300))) {
					assertThat(databases.fenced().acquire(request(waitTime))).isNull();
					assertThat(databases.fenced().holder("key")).extracting(LockHolder::text)
						.asString()
						.contains("the transaction of the last holder", "is still open in the database");
					assertThat(databases.store().holder("key")).as("free in the store").isNull();
				}
				return null;
			});
			assertThat(databases.fenced().holder("key")).isNull();
			assertThat(databases.fenced().acquire(request(Duration.ZERO))).isNotNull();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F16")
	void interruptedInstallationHoldsNothing(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			databases.whilePredecessorCommits(() -> {
				AtomicReference<Throwable> thrown = new AtomicReference<>();
				Thread waiter = new Thread(() -> {
					try {
						databases.fenced().acquire(request(LONG));
					}
					catch (Throwable ex) {
						thrown.set(ex);
					}
				});
				waiter.start();
				databases.awaitExpiresAtAbove(0);
				waiter.interrupt();
				waiter.join(LONG.toMillis());
				assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
				assertThat(databases.store().holder("key")).as("free in the store").isNull();
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F16")
	void interruptWhileSeveralKeysAreInstalledIsNoFailureOfTheTable(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource pool = access.dataSource(1)) {
			DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/fence-schema-" + database.platform() + ".sql");
			GrantingBackend store = new GrantingBackend(() -> 1);
			LockBackend fenced = new FencedLockBackend(store, new FenceTable(() -> pool, "store"));
			LockTemplate locks = new LockTemplate(() -> fenced, List::of);
			try (Connection busy = pool.getConnection()) {
				assertThat(busy.isClosed()).isFalse();
				FutureTask<LockTemplate.Scope> call = new FutureTask<>(() -> locks.acquire(List.of("a", "b")));
				Thread thread = new Thread(call);
				thread.start();
				await().until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 1);
				thread.interrupt();
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
					.havingCause()
					.isInstanceOfSatisfying(LockNotAcquiredException.class,
							(ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.INTERRUPTED));
				assertThat(store.held()).isEmpty();
			}
			finally {
				TemplateAccess.close(locks);
			}
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void leaseThatIsLostDuringTheInstallationIsAcquiredAnew(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			FutureTask<LockLease> waiting = databases.whilePredecessorCommits(() -> {
				FutureTask<LockLease> task = start(databases.fenced(), request(LONG));
				databases.awaitExpiresAtAbove(0);
				databases.freeLock();
				databases.awaitExpiresAtAbove(0);
				return task;
			});
			LockLease lease = waiting.get(60, TimeUnit.SECONDS);
			assertThat(lease).isNotNull();
			assertThat(lease.renew(LEASE_TIME)).as("still the holder").isTrue();
			assertThat(databases.holds(lease)).isTrue();
		}
	}

	@Test
	void failureOfTheDatabaseGivesTheLeaseBack() throws Exception {
		try (Databases databases = new Databases(TestDatabase.H2)) {
			LockBackend fenced = databases.fenced();
			new JdbcTemplate(databases.business).execute("DROP TABLE holdfast_fence");
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> fenced.acquire(request(LONG)))
				.withMessageContaining("the fence table failed");
			assertThat(databases.store().acquire(request(Duration.ZERO))).as("free in the store").isNotNull();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void storeThatHasGoneBackwardsIsRepaired(TestDatabase database) throws Exception {
		try (Databases databases = new Databases(database)) {
			LockLease before = databases.fenced().acquire(request(Duration.ZERO));
			assertThat(before).isNotNull();
			before.release();
			new JdbcTemplate(databases.business)
				.update("UPDATE holdfast_fence SET epoch = epoch + 1000000000000000, owner = 'of the lost primary'");
			long last = before.token() + (1000000000000000L << 8);
			for (int i = 0; i < 3; i++) {
				LockLease lease = databases.fenced().acquire(request(Duration.ZERO));
				assertThat(lease).isNotNull();
				assertThat(lease.token()).isGreaterThan(last);
				assertThat(databases.holds(lease)).isTrue();
				assertThat(lease.release().toCompletableFuture().join()).isTrue();
				last = lease.token();
			}
		}
	}

	@Test
	void storeThatGrantsTwiceWithTheSameEpochIsFenced() throws Exception {
		try (Databases databases = new Databases(TestDatabase.H2)) {
			AtomicLong epochs = new AtomicLong(10);
			LockBackend fenced = databases.fenced(new GrantingBackend(epochs::get));
			LockLease first = fenced.acquire(request(Duration.ZERO));
			assertThat(first).isNotNull();
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> fenced.acquire(request(Duration.ZERO)))
				.withMessageContaining("was granted with epoch 10, but the fence table has 10")
				.withMessageContaining("holdfast.fence.source");
			assertThat(databases.holds(first)).isTrue();
			epochs.set(11);
			assertThat(fenced.acquire(request(Duration.ZERO))).isNotNull();
			assertThat(databases.holds(first)).isFalse();
		}
	}

	@Test
	void localLocksAreInstalled() throws Exception {
		try (Databases databases = new Databases(TestDatabase.H2)) {
			LockBackend fenced = databases.fenced(new LocalLockBackend());
			LockLease first = fenced.acquire(request(Duration.ZERO));
			assertThat(first).isNotNull();
			assertThat(fenced.capabilities()).isEqualTo(new LocalLockBackend().capabilities());
			assertThat(databases.holds(first)).isTrue();
			first.release();
			LockLease second = fenced.acquire(request(Duration.ZERO));
			assertThat(second).isNotNull();
			assertThat(databases.holds(second)).isTrue();
			assertThat(databases.holds(first)).isFalse();
			second.release();
		}
	}

	@Test
	void sharedLocksAreNotInstalled() throws Exception {
		try (Databases databases = new Databases(TestDatabase.H2)) {
			LockLease shared = databases.fenced(new GrantingBackend(() -> 1))
				.acquire(request("key", LockRequest.Mode.SHARED));
			assertThat(shared).isNotNull();
			assertThat(databases.holds(shared)).isFalse();
		}
	}

	@Test
	void severalLocksAreInstalledOrGivenBack() throws Exception {
		try (Databases databases = new Databases(TestDatabase.H2)) {
			Iterator<Long> epochs = List.of(1L, 5L, 2L, 4L).iterator();
			GrantingBackend store = new GrantingBackend(epochs::next);
			LockBackend fenced = databases.fenced(store);
			List<LockRequest> requests = List.of(request("a", LockRequest.Mode.EXCLUSIVE),
					request("b", LockRequest.Mode.EXCLUSIVE));
			List<LockLease> leases = fenced.acquireAll(requests);
			assertThat(leases).hasSize(2).allMatch(databases::holds);
			assertThat(fenced.acquireAll(requests)).as("the second key falls from 5 to 4").isNull();
			assertThat(store.held()).isEqualTo(leases);
		}
	}

	private static LockRequest request(Duration waitTime) {
		return request(waitTime, LEASE_TIME);
	}

	private static LockRequest request(Duration waitTime, Duration leaseTime) {
		return request("key", LockRequest.Mode.EXCLUSIVE, waitTime, leaseTime);
	}

	private static LockRequest request(String key, LockRequest.Mode mode) {
		return request(key, mode, Duration.ZERO, LEASE_TIME);
	}

	private static LockRequest request(String key, LockRequest.Mode mode, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "test", mode, false, waitTime, leaseTime, UUID.randomUUID().toString(), "test", 0);
	}

	private static FutureTask<LockLease> start(LockBackend backend, LockRequest request) {
		FutureTask<LockLease> task = new FutureTask<>(() -> backend.acquire(request));
		new Thread(task).start();
		return task;
	}

	/**
	 * The database of the store and the business database.
	 */
	private static final class Databases implements AutoCloseable {

		private final HikariDataSource locks;

		private final HikariDataSource business;

		private final FenceTable table;

		private Databases(TestDatabase database) {
			this.locks = TestDatabase.H2.newDatabase().dataSource(8);
			this.business = database.newDatabase().dataSource(8);
			this.table = new FenceTable(() -> this.business, "test");
			DatabaseAccess.runScript(this.locks, "io/github/holdfast/jdbc/schema-h2.sql");
			DatabaseAccess.runScript(this.business,
					"io/github/holdfast/jdbc/fence-schema-" + database.platform() + ".sql");
		}

		LockBackend store() {
			return new JdbcLockBackend(() -> this.locks);
		}

		LockBackend fenced() {
			return fenced(store());
		}

		LockBackend fenced(LockBackend store) {
			return new FencedLockBackend(store, this.table);
		}

		/**
		 * A node that stands still between the grant of its first lease and the
		 * installation.
		 */
		LockBackend pausedAfterAcquiring(Pause pause) {
			boolean[] paused = new boolean[1];
			return fenced((request) -> {
				LockLease lease = store().acquire(request);
				if (lease != null && !paused[0]) {
					paused[0] = true;
					pause.run(lease);
				}
				return lease;
			});
		}

		/**
		 * Run something while an earlier holder, whose lease is gone, is between its
		 * check and COMMIT.
		 */
		<T> @Nullable T whilePredecessorCommits(Work<T> work) throws Exception {
			LockLease predecessor = fenced().acquire(request(Duration.ZERO));
			assertThat(predecessor).isNotNull();
			return new TransactionTemplate(new JdbcTransactionManager(this.business)).execute((status) -> {
				assertThat(this.table.fence().holds(this.business, predecessor, false)).isTrue();
				predecessor.release();
				try {
					return work.run();
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			});
		}

		boolean holds(LockLease lease) {
			return Boolean.TRUE.equals(new TransactionTemplate(new JdbcTransactionManager(this.business))
				.execute((status) -> this.table.fence().holds(this.business, lease, false)));
		}

		long lockEpoch() {
			Long epoch = new JdbcTemplate(this.locks).queryForObject("SELECT epoch FROM holdfast_lock", Long.class);
			return (epoch != null) ? epoch : -1;
		}

		void expireLease() {
			JdbcTemplate jdbc = new JdbcTemplate(this.locks);
			jdbc.update("UPDATE holdfast_lock SET expires_at = acquired_at");
			jdbc.update("UPDATE holdfast_renewal SET expires_at = 0");
		}

		void freeLock() {
			new JdbcTemplate(this.locks).update("UPDATE holdfast_lock SET owner = NULL, holder = NULL");
		}

		long awaitExpiresAtAbove(long last) {
			return await().atMost(LONG)
				.until(() -> new JdbcTemplate(this.locks)
					.queryForList("SELECT COALESCE(r.expires_at, l.expires_at) FROM holdfast_lock l "
							+ "LEFT JOIN holdfast_renewal r USING (lock_key, epoch, owner) WHERE l.owner IS NOT NULL",
							Long.class)
					.stream()
					.findAny()
					.orElse(0L), (it) -> it > last);
		}

		@Override
		public void close() {
			this.business.close();
			this.locks.close();
		}

	}

	@FunctionalInterface
	private interface Pause {

		void run(LockLease lease) throws InterruptedException;

	}

	@FunctionalInterface
	private interface Work<T> {

		@Nullable T run() throws Exception;

	}

}
