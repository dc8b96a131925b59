package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.fence.GrantingBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Whatever happens inside the guard: nothing is committed and nobody is told so.
 */
@Tag("F02")
class CommitGuardTests {

	private static final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

	private static final List<LocalContainerEntityManagerFactoryBean> factories = new ArrayList<>();

	@AfterAll
	static void close() {
		factories.forEach(LocalContainerEntityManagerFactoryBean::destroy);
		pools.values().forEach(HikariDataSource::close);
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}, {3}")
	@MethodSource("faults")
	void nothingIsCommittedWhenTheGuardFails(TestDatabase database, Manager kind, boolean autoCommit, Fault fault) {
		HikariDataSource dataSource = pool(database, autoCommit);
		assertNothingIsCommitted(dataSource, guarded(kind.create(dataSource)), fault);
	}

	@ParameterizedTest(name = "{0}, auto-commit {1}, {2}")
	@MethodSource("fenceFaults")
	void nothingIsCommittedWhenTheFenceTableFails(TestDatabase database, boolean autoCommit, Fault fault) {
		HikariDataSource dataSource = pool(database, autoCommit);
		assertNothingIsCommitted(dataSource, fenced(dataSource), fault);
	}

	private static void assertNothingIsCommitted(HikariDataSource dataSource, PlatformTransactionManager manager,
			Fault fault) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		TransactionTemplate transaction = new TransactionTemplate(manager);
		TransactionStatus[] status = new TransactionStatus[1];
		FaultyBackend backend = new FaultyBackend(() -> fault.strike(status[0], dataSource, manager));
		Throwable thrown;
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try {
			thrown = catchThrowable(() -> locks.run("key", () -> transaction.executeWithoutResult((running) -> {
				status[0] = running;
				jdbc.update("INSERT INTO written VALUES (1)");
			})));
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(thrown).as("the caller must not be told of a success").isNotNull();
		assertThat(backend.checks()).isPositive();
		assertThat(count(dataSource)).as("committed rows").isZero();
		assertThat(dataSource.getHikariPoolMXBean().getActiveConnections()).as("lent connections").isZero();
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("managers")
	void nothingIsCommittedWhenAnotherCallbackKeepsTheGuardFromBeingCalled(TestDatabase database, Manager kind,
			boolean autoCommit) {
		HikariDataSource dataSource = pool(database, autoCommit);
		TransactionTemplate transaction = new TransactionTemplate(guarded(kind.create(dataSource)));
		FaultyBackend backend = new FaultyBackend(() -> {
		});
		Throwable thrown;
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try {
			thrown = catchThrowable(() -> locks.run("key", () -> transaction.executeWithoutResult((running) -> {
				new JdbcTemplate(dataSource).update("INSERT INTO written VALUES (1)");
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						throw new UnexpectedRollbackException("of an inner transaction");
					}

				});
			})));
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(thrown).isInstanceOf(UnexpectedRollbackException.class);
		assertThat(count(dataSource)).as("committed rows").isZero();
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("managers")
	void commitsWhenTheGuardIsContent(TestDatabase database, Manager kind, boolean autoCommit) {
		HikariDataSource dataSource = pool(database, autoCommit);
		assertCommits(dataSource, guarded(kind.create(dataSource)));
	}

	private static void assertCommits(DataSource dataSource, PlatformTransactionManager manager) {
		TransactionTemplate transaction = new TransactionTemplate(manager);
		FaultyBackend backend = new FaultyBackend(() -> {
		});
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try {
			locks.run("key", () -> transaction.executeWithoutResult(
					(running) -> new JdbcTemplate(dataSource).update("INSERT INTO written VALUES (1)")));
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(backend.checks()).isPositive();
		assertThat(count(dataSource)).isOne();
		transaction.executeWithoutResult((running) -> new JdbcTemplate(dataSource).update("DELETE FROM written"));
	}

	@ParameterizedTest(name = "{0}, auto-commit {1}")
	@MethodSource("fencePools")
	void commitsWhenTheFenceTableIsContent(TestDatabase database, boolean autoCommit) {
		HikariDataSource dataSource = pool(database, autoCommit);
		assertCommits(dataSource, fenced(dataSource));
	}

	static Stream<Arguments> fencePools() {
		return managers().filter((arguments) -> arguments.get()[1] == Manager.JDBC)
			.map((arguments) -> Arguments.of(arguments.get()[0], arguments.get()[2]));
	}

	static Stream<Arguments> managers() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of(Manager.values())
				.flatMap((manager) -> Stream.of(true, false)
					.map((autoCommit) -> Arguments.of(database, manager, autoCommit))));
	}

	/**
	 * JPA transactions have no such mark on their connection.
	 */
	static Stream<Arguments> faults() {
		return managers().flatMap((arguments) -> Stream.of(Fault.values()).map((fault) -> {
			Object[] values = arguments.get();
			return Arguments.of(values[0], values[1], values[2], fault);
		}))
			.filter((arguments) -> arguments.get()[1] != Manager.JPA
					|| arguments.get()[3] != Fault.CONNECTION_ROLLBACK_ONLY);
	}

	static Stream<Arguments> fenceFaults() {
		return faults().filter((arguments) -> arguments.get()[1] == Manager.JDBC).map((arguments) -> {
			Object[] values = arguments.get();
			return Arguments.of(values[0], values[2], values[3]);
		});
	}

	private static HikariDataSource pool(TestDatabase database, boolean autoCommit) {
		return pools.computeIfAbsent(database + " " + autoCommit, (name) -> {
			DatabaseAccess access = database.newDatabase();
			HikariDataSource dataSource = new HikariDataSource();
			dataSource.setJdbcUrl(access.url());
			dataSource.setUsername(access.user());
			dataSource.setPassword(access.password());
			dataSource.setMaximumPoolSize(4);
			dataSource.setAutoCommit(autoCommit);
			TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
			transaction.executeWithoutResult(
					(status) -> new JdbcTemplate(dataSource).execute("CREATE TABLE written (id integer NOT NULL)"));
			installEveryHolder(dataSource, database);
			return dataSource;
		});
	}

	private static void installEveryHolder(DataSource dataSource, TestDatabase database) {
		LockPlace.OTHER_DATABASE.createFenceTable(dataSource, database);
		try {
			LockLease lease = LockPlace.OTHER_DATABASE.backend(new GrantingBackend(() -> 1), dataSource)
				.acquire(new LockRequest("lock:key", "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO,
						Duration.ofSeconds(30), "owner", "test", 0));
			assertThat(lease).isNotNull();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Integer count(DataSource dataSource) {
		Integer count = new TransactionTemplate(new JdbcTransactionManager(dataSource)).execute(
				(status) -> new JdbcTemplate(dataSource).queryForObject("SELECT count(*) FROM written", Integer.class));
		return (count != null) ? count : -1;
	}

	private static PlatformTransactionManager guarded(AbstractPlatformTransactionManager manager) {
		new CommitGuardPostProcessor(() -> CommitGuardLevel.LEASE, () -> null).postProcessAfterInitialization(manager,
				"transactionManager");
		return manager;
	}

	private static PlatformTransactionManager fenced(DataSource dataSource) {
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		new CommitGuardPostProcessor(() -> CommitGuardLevel.FENCE, () -> LockPlace.OTHER_DATABASE.fence(dataSource))
			.postProcessAfterInitialization(manager, "transactionManager");
		return manager;
	}

	enum Manager {

		DATA_SOURCE {

			@Override
			AbstractPlatformTransactionManager create(DataSource dataSource) {
				return new DataSourceTransactionManager(dataSource);
			}

		},

		JDBC {

			@Override
			AbstractPlatformTransactionManager create(DataSource dataSource) {
				return new JdbcTransactionManager(dataSource);
			}

		},

		JDBC_ROLLBACK_ON_COMMIT_FAILURE {

			@Override
			AbstractPlatformTransactionManager create(DataSource dataSource) {
				JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
				manager.setRollbackOnCommitFailure(true);
				return manager;
			}

		},

		JPA {

			@Override
			AbstractPlatformTransactionManager create(DataSource dataSource) {
				LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
				factory.setDataSource(dataSource);
				factory.setManagedTypes(PersistenceManagedTypes.of());
				factory.setPersistenceUnitName("test");
				factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
				factory.afterPropertiesSet();
				factories.add(factory);
				JpaTransactionManager manager = new JpaTransactionManager();
				manager.setEntityManagerFactory(factory.getObject());
				manager.afterPropertiesSet();
				return manager;
			}

		};

		abstract AbstractPlatformTransactionManager create(DataSource dataSource);

	}

	enum Fault {

		RUNTIME_EXCEPTION(new IllegalStateException("fault")),

		DATA_ACCESS_EXCEPTION(new DataIntegrityViolationException("fault")),

		ERROR(new StackOverflowError("fault")),

		CHECKED_EXCEPTION(new SQLException("fault", "40001")),

		TRANSACTION_SYSTEM_EXCEPTION(new TransactionSystemException("fault")),

		UNEXPECTED_ROLLBACK_EXCEPTION(new UnexpectedRollbackException("fault")),

		NO_TRANSACTION_EXCEPTION(new NoTransactionException("fault")),

		TRANSACTION_TIMED_OUT_EXCEPTION(new TransactionTimedOutException("fault")),

		STATUS_ROLLBACK_ONLY(null) {

			@Override
			void strike(TransactionStatus status, DataSource dataSource, PlatformTransactionManager manager) {
				status.setRollbackOnly();
			}

		},

		CONNECTION_ROLLBACK_ONLY(null) {

			@Override
			void strike(TransactionStatus status, DataSource dataSource, PlatformTransactionManager manager) {
				ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager.getResource(dataSource);
				assertThat(holder).isNotNull();
				holder.setRollbackOnly();
			}

		},

		NESTED_TEMPLATE_FAILS(null) {

			@Override
			void strike(TransactionStatus status, DataSource dataSource, PlatformTransactionManager manager) {
				catchThrowable(() -> new TransactionTemplate(manager).executeWithoutResult((inner) -> {
					throw new IllegalStateException("swallowed");
				}));
			}

		};

		private final Throwable thrown;

		Fault(Throwable thrown) {
			this.thrown = thrown;
		}

		void strike(TransactionStatus status, DataSource dataSource, PlatformTransactionManager manager) {
			sneak(this.thrown);
		}

		@SuppressWarnings("unchecked")
		private static <T extends Throwable> void sneak(Throwable thrown) throws T {
			throw (T) thrown;
		}

	}

}
