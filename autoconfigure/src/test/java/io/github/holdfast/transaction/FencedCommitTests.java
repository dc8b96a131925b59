package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The check of a lease and the commit in one message.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencedCommitTests {

	private static final String NOT_READ = "the fence could not be read, so the transaction was rolled back";

	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void checkAndCommitTakeOneRoundTrip(TestDatabase database, boolean autoCommit) {
		assertThat(roundTripsOfTheEnd(database, autoCommit, true)).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,true,3", "MARIADB,false,2", "POSTGRESQL,true,2", "POSTGRESQL,false,2" })
	void checkTakesARoundTripOfItsOwnIfSetSo(TestDatabase database, boolean autoCommit, int roundTrips) {
		assertThat(roundTripsOfTheEnd(database, autoCommit, false)).isEqualTo(roundTrips);
	}

	/**
	 * How often the database answers after the last statement of a transaction.
	 */
	private static int roundTripsOfTheEnd(TestDatabase database, boolean autoCommit, boolean together) {
		DatabaseAccess direct = database.newDatabase();
		AtomicInteger replies = new AtomicInteger();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(database, direct.onPort(proxy.port()), autoCommit, together)) {
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
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void refusedCommitIsReportedAsWithoutALock(boolean together) {
		try (Node node = new Node(TestDatabase.POSTGRESQL, TestDatabase.POSTGRESQL.newDatabase(), true, together,
				JdbcTransactionManager::new)) {
			assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(() -> refuse(node));
			assertRolledBackAndFree(node);
		}
		try (Node node = new Node(TestDatabase.POSTGRESQL, TestDatabase.POSTGRESQL.newDatabase(), true, together,
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
	 * A time-out for the whole statement could strike when the commit is being done. The
	 * other transaction would keep the row for a minute, and then fail.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,HY000,1205,SET innodb_lock_wait_timeout = 1000", "POSTGRESQL,55P03,0,SET lock_timeout = 0" })
	void doesNotWaitForTheRowLongerThanTheTransactionMayTake(TestDatabase database, String state, int code,
			String patience) throws Exception {
		CountDownLatch failed = new CountDownLatch(1);
		try (Node node = new Node(database, true)) {
			node.pool.setConnectionInitSql(patience);
			node.commit();
			node.transaction.setTimeout(4);
			CountDownLatch locked = new CountDownLatch(1);
			CompletableFuture<Void> other = new CompletableFuture<>();
			Throwable failure = catchThrowable(() -> node.locks.run("key", () -> {
				other.completeAsync(() -> {
					node.lockRow(locked, failed);
					return null;
				});
				await(locked);
				node.transaction.executeWithoutResult((status) -> node.write());
			}));
			failed.countDown();
			other.get(60, TimeUnit.SECONDS);
			assertThat(failure).isInstanceOf(LockBackendException.class)
				.hasRootCauseInstanceOf(SQLException.class)
				.rootCause()
				.asInstanceOf(InstanceOfAssertFactories.type(SQLException.class))
				.satisfies((cause) -> {
					assertThat(cause.getSQLState()).isEqualTo(state);
					assertThat(cause.getErrorCode()).isEqualTo(code);
				});
			assertThat(node.written()).isOne();
			assertThat(node.backend.held()).isEmpty();
		}
		finally {
			failed.countDown();
		}
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

	@ParameterizedTest
	@CsvSource({ "autosave,ALWAYS", "autosave,CONSERVATIVE", "preferQueryMode,SIMPLE" })
	void driverThatSendsMoreThanThisIsLeftAlone(String property, String value) {
		DatabaseAccess direct = TestDatabase.POSTGRESQL.newDatabase();
		AtomicInteger replies = new AtomicInteger();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(TestDatabase.POSTGRESQL, direct.onPort(proxy.port()), true, true)) {
			node.pool.addDataSourceProperty(property, value.toLowerCase(Locale.ROOT));
			proxy.beforeReply(replies::incrementAndGet);
			node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
				node.write();
				replies.set(0);
			}));
			assertThat(replies).as("check and commit").hasValueGreaterThan(1);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
					node.write();
					node.installAnother("key");
				})));
			assertThat(node.written()).isOne();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void worksWithStatementsThatTheServerHasPrepared(boolean lost) {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.pool.addDataSourceProperty("useServerPrepStmts", "true");
			for (int i = 0; i < 3; i++) {
				node.commit();
			}
			Throwable failure = catchThrowable(
					() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
						node.write();
						if (lost) {
							node.installAnother("key");
						}
					})));
			assertThat(failure instanceof LockLostException).isEqualTo(lost);
			assertThat(node.written()).isEqualTo(lost ? 3 : 4);
		}
	}

	/**
	 * The check with the commit is long, so that MariaDB takes long to parse it.
	 */
	@ParameterizedTest
	@CsvSource({ "false,1,3", "true,0,0" })
	void statementIsParsedOncePerSession(boolean byTheDriver, int prepared, int executed) {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.pool.addDataSourceProperty("useServerPrepStmts", byTheDriver);
			for (int i = 0; i < 3; i++) {
				node.commit();
			}
			assertThat(node.written()).isEqualTo(3);
			assertThat(node.counter("Com_prepare_sql")).isEqualTo(prepared);
			assertThat(node.counter("Com_execute_sql")).isEqualTo(executed);
		}
	}

	/**
	 * As some pools let them do.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void sessionMayForgetItsStatements(boolean lost) throws SQLException {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.pool.addDataSourceProperty("useResetConnection", "true");
			node.commit();
			try (Connection connection = node.pool.getConnection()) {
				connection.unwrap(org.mariadb.jdbc.Connection.class).reset();
			}
			Throwable failure = catchThrowable(
					() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
						node.write();
						if (lost) {
							node.installAnother("key");
						}
					})));
			assertThat(failure instanceof LockLostException).isEqualTo(lost);
			assertThat(node.backend.held()).isEmpty();
			assertThat(node.written()).isEqualTo(lost ? 1 : 2);
			int executed = node.counter("Com_execute_sql");
			node.commit();
			assertThat(node.counter("Com_execute_sql")).as("check and commit are sent together again")
				.isEqualTo(executed + 1);
			assertThat(node.written()).isEqualTo(lost ? 2 : 3);
		}
	}

	/**
	 * Nothing was done then, so the outcome is known.
	 */
	@Test
	void sessionThatForgetsItsStatementsBeforeATransactionWithoutOne() throws SQLException {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.pool.addDataSourceProperty("useResetConnection", "true");
			node.commit();
			try (Connection connection = node.pool.getConnection()) {
				connection.unwrap(org.mariadb.jdbc.Connection.class).reset();
			}
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> node.locks.run("key", () -> node.transaction.execute((status) -> "nothing")));
			assertThat(node.backend.held()).isEmpty();
			node.commit();
			assertThat(node.written()).isEqualTo(2);
		}
	}

	/**
	 * Names of tables mean those of the database that was the current one when a
	 * statement was prepared.
	 */
	@Test
	void transactionInAnotherDatabaseOfTheServer() {
		DatabaseAccess own = TestDatabase.MARIADB.newDatabase();
		String other = databaseName(TestDatabase.MARIADB.newDatabase());
		try (Node node = new Node(TestDatabase.MARIADB, own, true, true)) {
			node.pool.setCatalog(databaseName(own));
			assertThatExceptionOfType(LockBackendException.class).as("there is no fence")
				.isThrownBy(() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
					node.write();
					node.jdbc.execute((ConnectionCallback<@Nullable Void>) (connection) -> {
						connection.setCatalog(other);
						return null;
					});
				})));
			for (int i = 0; i < 2; i++) {
				node.commit();
			}
			assertThat(node.written()).isEqualTo(2);
			assertThat(node.counter("Com_execute_sql")).as("with another one in the other database").isEqualTo(3);
		}
	}

	private static String databaseName(DatabaseAccess access) {
		return access.url().substring(access.url().lastIndexOf('/') + 1).replaceAll("\\?.*", "");
	}

	@Test
	void textIsSentIfTheServerKeepsNoMoreStatements() {
		try (Node node = new Node(TestDatabase.MARIADB, true)) {
			node.observer.execute("SET GLOBAL max_prepared_stmt_count = 0");
			try {
				node.commit();
			}
			finally {
				node.observer.execute("SET GLOBAL max_prepared_stmt_count = DEFAULT");
			}
			assertThat(node.written()).isOne();
			assertThat(node.counter("Com_compound_sql")).isOne();
			node.commit();
			assertThat(node.counter("Com_execute_sql")).isOne();
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void nothingIsCommittedOnAConnectionThatBrokeBefore(TestDatabase database, CapturedOutput output) {
		DatabaseAccess direct = database.newDatabase();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(database, direct, direct.onPort(proxy.port()), true)) {
			node.commit();
			Throwable failure = catchThrowable(
					() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
						node.write();
						proxy.reset();
						assertThat(catchThrowable(node::write)).isNotNull();
					})));
			assertThat(failure).as("Spring's own one").hasMessageContaining("rollback failed");
			assertThat(output).as("what it stands for").contains(NOT_READ);
			assertThat(node.backend.held()).as("the outcome is known").isEmpty();
			assertThat(node.written()).isOne();
		}
	}

	@Test
	void nothingIsCommittedInASessionThatCannotBePrepared(CapturedOutput output) {
		DatabaseAccess direct = TestDatabase.MARIADB.newDatabase();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(TestDatabase.MARIADB, direct, direct.onPort(proxy.port()), true)) {
			Throwable failure = catchThrowable(
					() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
						node.write();
						proxy.reset();
					})));
			assertThat(failure).as("Spring's own one").hasMessageContaining("rollback failed");
			assertThat(output).as("what it stands for").contains(NOT_READ);
			assertThat(node.backend.held()).as("the outcome is known").isEmpty();
			assertThat(node.written()).isZero();
		}
	}

	/**
	 * Such as one that has to do something of its own when it is asked to commit.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void commitIsLeftToAPoolOfAnotherKind(TestDatabase database) {
		try (Node node = new Node(database, database.newDatabase(), true, true,
				(pool) -> new JdbcTransactionManager(new Refusing(pool)))) {
			TransactionTemplate transaction = new TransactionTemplate(node.manager);
			JdbcTemplate jdbc = new JdbcTemplate(node.manager.getDataSource());
			assertThat(catchThrowable(() -> node.locks.run("key",
					() -> transaction.executeWithoutResult((status) -> jdbc.update("INSERT INTO written VALUES (1)")))))
				.hasMessageContaining("refused");
			assertThat(node.written()).isZero();
		}
	}

	/**
	 * The commit whose outcome is unknown remains so.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockIsKeptAfterAnUnknownOutcomeAndARefusedCommit(boolean together) {
		DatabaseAccess direct = TestDatabase.POSTGRESQL.newDatabase();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(TestDatabase.POSTGRESQL, direct, direct.onPort(proxy.port()), together)) {
			node.observer.execute("ALTER TABLE written ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED");
			AtomicBoolean armed = new AtomicBoolean(true);
			node.addListener(together ? 0 : 1, new TransactionExecutionListener() {

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

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * In this mode the server does not understand the declaration of a variable there.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void checksBeforeTheCommitWhereTheDatabaseCannotDoBoth(boolean lost) {
		DatabaseAccess direct = TestDatabase.MARIADB.newDatabase();
		AtomicInteger replies = new AtomicInteger();
		try (FaultProxy proxy = new FaultProxy(direct.port());
				Node node = new Node(TestDatabase.MARIADB, direct, direct.onPort(proxy.port()), true)) {
			node.pool.setConnectionInitSql("SET sql_mode = 'ORACLE'");
			proxy.beforeReply(replies::incrementAndGet);
			Throwable failure = catchThrowable(
					() -> node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
						node.write();
						if (lost) {
							node.installAnother("key");
						}
						replies.set(0);
					})));
			assertThat(replies).as("the attempt, the look at the transaction and the check").hasValueGreaterThan(2);
			assertThat(failure instanceof LockLostException).isEqualTo(lost);
			assertThat(node.written()).isEqualTo(lost ? 0 : 1);
			node.locks.run("key", () -> node.transaction.executeWithoutResult((status) -> {
				node.write();
				replies.set(0);
			}));
			assertThat(replies).as("check, commit and auto-commit").hasValue(3);
			assertThat(node.written()).isEqualTo(lost ? 1 : 2);
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void commitWaitsForAnotherListener(TestDatabase database) {
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

	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void commitIsLeftToAManagerThatDoesMore(TestDatabase database) {
		try (Node node = new Node(database, database.newDatabase(), true, true, ChoosyManager::new)) {
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
			this(database, database.newDatabase(), autoCommit, true);
		}

		Node(TestDatabase database, DatabaseAccess access, boolean autoCommit, boolean together) {
			this(database, access, autoCommit, together, JdbcTransactionManager::new);
		}

		Node(TestDatabase database, DatabaseAccess access, boolean autoCommit, boolean together,
				Function<DataSource, DataSourceTransactionManager> managers) {
			this(database, access, access, autoCommit, together, managers);
		}

		/**
		 * With a network between the pool and its database.
		 */
		Node(TestDatabase database, DatabaseAccess direct, DatabaseAccess access, boolean together) {
			this(database, direct, access, true, together, JdbcTransactionManager::new);
		}

		private Node(TestDatabase database, DatabaseAccess direct, DatabaseAccess access, boolean autoCommit,
				boolean together, Function<DataSource, DataSourceTransactionManager> managers) {
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
			guard.setCheckWithCommit(() -> together);
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

		void write() {
			this.jdbc.update("INSERT INTO written VALUES (1)");
		}

		int written() {
			Integer count = this.observer.queryForObject("SELECT count(*) FROM written", Integer.class);
			return (count != null) ? count : -1;
		}

		/**
		 * How often the session of the only connection has done something.
		 */
		int counter(String variable) {
			Integer value = this.jdbc.queryForObject("SHOW SESSION STATUS LIKE '" + variable + "'",
					(rs, row) -> rs.getInt(2));
			return (value != null) ? value : -1;
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

		/**
		 * Keeps the row of the lock locked, as a node would that pauses at a bad moment.
		 */
		void lockRow(CountDownLatch locked, CountDownLatch until) {
			new TransactionTemplate(new JdbcTransactionManager(this.observerPool)).executeWithoutResult((status) -> {
				this.observer.update("UPDATE holdfast_fence SET version = version + 1");
				locked.countDown();
				await(until);
			});
		}

		@Override
		public void close() {
			this.locks.close();
			this.pool.close();
			this.observerPool.close();
		}

	}

	/**
	 * Does not commit.
	 */
	private static final class Refusing extends DelegatingDataSource {

		private Refusing(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			ProxyFactory proxy = new ProxyFactory(super.getConnection());
			proxy.addAdvice((MethodInterceptor) (invocation) -> {
				if (invocation.getMethod().getName().equals("commit")) {
					throw new SQLException("refused", "40000");
				}
				return invocation.proceed();
			});
			return (Connection) proxy.getProxy(getClass().getClassLoader());
		}

	}

	/**
	 * Refuses what it is asked to commit.
	 */
	private static final class ChoosyManager extends DataSourceTransactionManager {

		private static final long serialVersionUID = 1L;

		private ChoosyManager(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			throw new IllegalStateException("not this one");
		}

	}

}
