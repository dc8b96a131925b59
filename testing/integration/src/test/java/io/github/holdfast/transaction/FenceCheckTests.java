package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.fence.GrantingBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The check of the fence before a commit of one of Spring's managers for JDBC.
 */
class FenceCheckTests {

	@ParameterizedTest
	@CsvSource({ "MARIADB,true,3", "MARIADB,false,2", "POSTGRESQL,true,2", "POSTGRESQL,false,2" })
	void checkTakesARoundTrip(TestDatabase database, boolean autoCommit, int roundTrips) {
		assertThat(roundTripsOfTheEnd(database, autoCommit)).isEqualTo(roundTrips);
	}

	/**
	 * How often the database answers after the last statement of a transaction.
	 */
	private static int roundTripsOfTheEnd(TestDatabase database, boolean autoCommit) {
		DatabaseAccess direct = database.newDatabase();
		AtomicInteger replies = new AtomicInteger();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(database, direct.onPort(proxy.port()), autoCommit, JdbcTransactionManager::new)) {
			proxy.beforeReply(replies::incrementAndGet);
			for (int i = 0; i < 2; i++) {
				node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
					node.write();
					replies.set(0);
				}));
			}
			int found = replies.get();
			assertThat(node.written()).isEqualTo(2);
			return found;
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void nothingIsCommittedUnderALostLock(TestDatabase database, boolean autoCommit) {
		try (Node node = new Node(database, autoCommit)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
					node.write();
					node.installAnother("key");
				})));
			assertThat(node.written()).isZero();
			assertThat(node.backend.held()).isEmpty();
			node.commit();
			assertThat(node.written()).isOne();
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,first", "MARIADB,second", "POSTGRESQL,first", "POSTGRESQL,second" })
	void eachOfSeveralLocksIsChecked(TestDatabase database, String lost) {
		try (Node node = new Node(database, true)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(
					() -> node.locks.execute(List.of("first", "second"), () -> node.transaction.execute((status) -> {
						node.write();
						node.installAnother(lost);
						return lost;
					})))
				.withMessageContaining(lost);
			assertThat(node.written()).isZero();
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,outer", "MARIADB,inner", "POSTGRESQL,outer", "POSTGRESQL,inner" })
	void locksAroundALockAreChecked(TestDatabase database, String lost) {
		try (Node node = new Node(database, true)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> node.locks.run("outer", () -> node.locks.run("inner", () -> {
					node.transaction.executeWithoutResult((status) -> {
						node.write();
						node.installAnother(lost);
					});
				})))
				.withMessageContaining(lost);
			assertThat(node.written()).isZero();
		}
	}

	/**
	 * Spring does not switch auto-commit on again if the pool has it off.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void autoCommitIsAsThePoolHasIt(TestDatabase database, boolean autoCommit) throws SQLException {
		try (Node node = new Node(database, autoCommit)) {
			node.commit();
			assertThat(node.pool.getHikariPoolMXBean().getTotalConnections()).isOne();
			try (Connection connection = node.pool.getConnection();
					Statement statement = connection.createStatement()) {
				assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
				statement.execute("INSERT INTO written VALUES (2)");
			}
			assertThat(node.written()).as("the second one is rolled back without auto-commit")
				.isEqualTo(autoCommit ? 2 : 1);
		}
	}

	/**
	 * A constraint that is looked at when the transaction commits.
	 */
	@Test
	void refusedCommitIsReportedAsWithoutALock() {
		try (Node node = new Node(TestDatabase.POSTGRESQL, TestDatabase.POSTGRESQL.newDatabase(), true,
				JdbcTransactionManager::new)) {
			assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(() -> refuse(node));
			assertRolledBackAndFree(node);
		}
		try (Node node = new Node(TestDatabase.POSTGRESQL, TestDatabase.POSTGRESQL.newDatabase(), true,
				DataSourceTransactionManager::new)) {
			assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> refuse(node));
			assertRolledBackAndFree(node);
		}
	}

	private static void refuse(Node node) {
		node.observer.execute("ALTER TABLE written ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED");
		node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
			node.write();
			node.write();
		}));
	}

	private static void assertRolledBackAndFree(Node node) {
		assertThat(node.written()).isZero();
		assertThat(node.backend.held()).as("the outcome is known").isEmpty();
	}

	/**
	 * With this setting, the default of later versions, a row that has changed since the
	 * snapshot is an error, after which the transaction is rolled back.
	 */
	@Test
	void changedRowIsALostLockAtRepeatableRead() {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.pool.setConnectionInitSql("SET innodb_snapshot_isolation = ON");
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
					node.write();
					node.jdbc.queryForObject("SELECT count(*) FROM written", Integer.class);
					node.installAnother("key");
				})));
			assertThat(node.written()).isZero();
			assertThat(node.backend.held()).as("the outcome is known").isEmpty();
		}
	}

	/**
	 * What counts is whom the row names, not whether it is the same as in the snapshot.
	 */
	@Test
	void changedRowThatStillNamesTheHolderIsNoLossAtRepeatableRead() {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.pool.setConnectionInitSql("SET innodb_snapshot_isolation = ON");
			node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
				node.write();
				node.jdbc.queryForObject("SELECT count(*) FROM written", Integer.class);
				node.observer.update("UPDATE holdfast_fence SET version = version + 1");
			}));
			assertThat(node.written()).isOne();
		}
	}

	/**
	 * The commit whose outcome is unknown remains so.
	 */
	@Test
	void lockIsKeptAfterAnUnknownOutcomeAndARefusedCommit() {
		DatabaseAccess direct = TestDatabase.POSTGRESQL.newDatabase();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(TestDatabase.POSTGRESQL, direct, direct.onPort(proxy.port()))) {
			node.observer.execute("ALTER TABLE written ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED");
			AtomicBoolean armed = new AtomicBoolean(true);
			node.addListener(1, new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					if (armed.getAndSet(false)) {
						proxy.reset();
					}
				}

			});
			Throwable refused = catchThrowable(() -> node.locks.run("key", () -> {
				assertThat(catchThrowable(() -> node.transaction.executeWithoutResult((status) -> node.write())))
					.as("the manager's own exception")
					.isNotNull()
					.isNotInstanceOf(LockException.class);
				node.transaction.executeWithoutResult((status) -> {
					node.write();
					node.write();
				});
			}));
			assertThat(refused).isInstanceOf(DataIntegrityViolationException.class);
			assertThat(node.backend.held()).as("kept to run out").hasSize(1);
		}
	}

	/**
	 * The check is the first statement after another transaction has committed what this
	 * one should have read, and this one what the other should have.
	 */
	@Test
	void transactionThatIsNotSerializableHasNotLostItsLock() {
		try (Node node = new Node(TestDatabase.POSTGRESQL, true)) {
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.serializable(node::commitNextTo)))
				.isNotInstanceOf(LockLostException.class)
				.withMessageContaining("was not lost");
			assertThat(node.written()).as("that of the other one").isOne();
			assertThat(node.backend.held()).as("the outcome is known").isEmpty();
			node.locks.run("key", () -> node.serializable(() -> {
			}));
			assertThat(node.written()).isEqualTo(2);
		}
	}

	@Test
	void transactionThatIsNotSerializableMayHaveLostItsLockAsWell() {
		try (Node node = new Node(TestDatabase.POSTGRESQL, true)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.serializable(() -> {
					node.commitNextTo();
					node.installAnother("key");
				})));
			assertThat(node.written()).as("that of the other one").isOne();
		}
	}

	/**
	 * The database does not say whether it was a later holder that has changed the row.
	 */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL", "H2" })
	void changedRowIsALossOnlyIfItNamesAnother(TestDatabase database) {
		try (Node node = new Node(database, true)) {
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node
					.serializable(() -> node.observer.update("UPDATE holdfast_fence SET version = version + 1"))));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.serializable(() -> node.installAnother("key"))));
			assertThat(node.written()).isZero();
			assertThat(node.backend.held()).isEmpty();
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void anotherListenerMayStillRefuse(TestDatabase database) {
		try (Node node = new Node(database, true)) {
			node.addListener(1, new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					node.write();
					throw new IllegalStateException("of the listener");
				}

			});
			assertThatIllegalStateException().isThrownBy(
					() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> node.write())));
			assertThat(node.written()).isZero();
		}
	}

	/**
	 * A node with a pool of its own, whose locks are granted without end.
	 */
	private static final class Node implements AutoCloseable {

		private final AtomicInteger epochs = new AtomicInteger();

		private final GrantingBackend backend = new GrantingBackend(this.epochs::incrementAndGet);

		private final HikariDataSource pool = new HikariDataSource();

		private final HikariDataSource observerPool;

		private final JdbcTemplate jdbc = new JdbcTemplate(this.pool);

		private final JdbcTemplate observer;

		private final DataSourceTransactionManager manager;

		private final TransactionTemplate transaction;

		private final LockTemplate locks;

		Node(TestDatabase database, boolean autoCommit) {
			this(database, database.newDatabase(), autoCommit, JdbcTransactionManager::new);
		}

		Node(TestDatabase database, DatabaseAccess access, boolean autoCommit,
				Function<DataSource, DataSourceTransactionManager> managers) {
			this(database, access, access, autoCommit, managers);
		}

		/**
		 * With a network between the pool and its database.
		 */
		Node(TestDatabase database, DatabaseAccess direct, DatabaseAccess access) {
			this(database, direct, access, true, JdbcTransactionManager::new);
		}

		private Node(TestDatabase database, DatabaseAccess direct, DatabaseAccess access, boolean autoCommit,
				Function<DataSource, DataSourceTransactionManager> managers) {
			this.observerPool = direct.dataSource(2);
			this.observer = new JdbcTemplate(this.observerPool);
			this.observer.execute("CREATE TABLE written (id integer NOT NULL)");
			LockPlace.OTHER_DATABASE.createFenceTable(this.observerPool, database);
			this.pool.setJdbcUrl(access.url());
			this.pool.setUsername(access.user());
			this.pool.setPassword(access.password());
			this.pool.setMaximumPoolSize(1);
			this.pool.setAutoCommit(autoCommit);
			this.manager = managers.apply(this.pool);
			CommitGuardPostProcessor guard = new CommitGuardPostProcessor(() -> CommitGuardLevel.FENCE,
					() -> LockPlace.OTHER_DATABASE.fence(this.manager.getDataSource()));
			guard.postProcessAfterInitialization(this.manager, "transactionManager");
			this.transaction = new TransactionTemplate(this.manager);
			this.locks = new LockTemplate(() -> LockPlace.OTHER_DATABASE.backend(this.backend, this.observerPool),
					List::of)
				.withLeaseTime(Duration.ofMinutes(10));
		}

		void addListener(int place, TransactionExecutionListener listener) {
			List<TransactionExecutionListener> listeners = new ArrayList<>(
					this.manager.getTransactionExecutionListeners());
			listeners.add(place, listener);
			this.manager.setTransactionExecutionListeners(listeners);
		}

		/**
		 * Writes under the lock, in a transaction.
		 */
		void commit() {
			this.locks.run("key", () -> this.transaction.executeWithoutResult((status) -> write()));
		}

		/**
		 * Reads and writes, and then does something else, in a serializable transaction.
		 */
		void serializable(Runnable last) {
			TransactionTemplate serializable = new TransactionTemplate(this.manager);
			serializable.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
			serializable.executeWithoutResult((status) -> {
				this.jdbc.queryForObject("SELECT count(*) FROM written", Integer.class);
				write();
				last.run();
			});
		}

		/**
		 * Reads and writes the same without the lock.
		 */
		void commitNextTo() {
			TransactionTemplate another = new TransactionTemplate(new JdbcTransactionManager(this.observerPool));
			another.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
			another.executeWithoutResult((status) -> {
				written();
				this.observer.update("INSERT INTO written VALUES (2)");
			});
		}

		void write() {
			this.jdbc.update("INSERT INTO written VALUES (1)");
		}

		int written() {
			Integer count = this.observer.queryForObject("SELECT count(*) FROM written", Integer.class);
			return (count != null) ? count : -1;
		}

		/**
		 * Takes the lock on another node.
		 */
		void installAnother(String key) {
			int changed = this.observer.update(
					"UPDATE holdfast_fence SET epoch = epoch + 1, owner = 'another' WHERE lock_key LIKE ?", "%" + key);
			assertThat(changed).isOne();
			this.epochs.incrementAndGet();
		}

		@Override
		public void close() {
			TemplateAccess.close(this.locks);
			this.pool.close();
			this.observerPool.close();
		}

	}

}
