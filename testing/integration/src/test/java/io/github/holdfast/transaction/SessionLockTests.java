package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks and transactions in the same database session.
 */
class SessionLockTests {

	private static final Runnable NOTHING = () -> {
	};

	@ParameterizedTest
	@CsvSource({ "MARIADB,eager,true", "MARIADB,lazy,false", "POSTGRESQL,eager,true", "POSTGRESQL,lazy,false" })
	void transactionsOfTwoNodesNeverOverlap(TestDatabase database, String fetch, boolean autoCommit) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource admin = access.dataSource(1)) {
			StockService stock = new StockService(new JdbcTemplate(admin));
			ApplicationContextRunner application = application(access).withPropertyValues(
					"spring.datasource.connection-fetch=" + fetch, "spring.datasource.hikari.auto-commit=" + autoCommit,
					"spring.datasource.hikari.maximum-pool-size=2", "holdfast.wait-time=60s");
			application.run((node) -> application.run((otherNode) -> {
				takeOften(List.of(node, otherNode));
				assertThat(stock.quantity("A")).isEqualTo(60);
				assertThat(connections(node)).isZero();
				assertThat(connections(otherNode)).isZero();
			}));
		}
	}

	private static void takeOften(List<ApplicationContext> nodes) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(8);
		try {
			List<Future<?>> calls = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				ApplicationContext node = nodes.get(i % nodes.size());
				List<String> keys = (i % 3 == 0) ? List.of("stock:A", "stock:B") : List.of("stock:A");
				calls.add(executor.submit(() -> locks(node).execute(keys, () -> transaction(node).execute((status) -> {
					take(jdbc(node));
					return keys;
				}))));
			}
			for (Future<?> call : calls) {
				call.get(120, TimeUnit.SECONDS);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	private static void take(JdbcTemplate jdbc) {
		Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
		assertThat(quantity).isNotNull();
		jdbc.update("UPDATE stock SET quantity = ? WHERE sku = 'A'", quantity - 1);
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,eager", "MARIADB,lazy", "POSTGRESQL,eager", "POSTGRESQL,lazy" })
	void lockAndTransactionTakeOneConnection(TestDatabase database, String fetch) {
		run(database, List.of("spring.datasource.connection-fetch=" + fetch), (context) -> {
			context.getBean(StockService.class).take("A", () -> assertThat(connections(context)).isOne());
			assertThat(connections(context)).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F30")
	void sessionThatIsKilledInATransactionRollsBackAndFreesTheLock(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A", () -> {
				stock.write("A", 1);
				kill(database, context);
				onOtherThread(() -> locks(context).withWaitTime(Duration.ZERO)
					.run("stock:A", () -> assertThat(stock.quantity("A")).isEqualTo(100)));
			})).withMessageContaining("'stock:A'");
			assertThat(stock.quantity("A")).isEqualTo(100);
			stock.take("A", NOTHING);
			assertThat(stock.quantity("A")).isEqualTo(99);
			assertThat(connections(context)).isZero();
		});
	}

	/**
	 * PostgreSQL answers a COMMIT in a session that was killed, MariaDB does not.
	 */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F30")
	void sessionThatIsKilledBeforeTheCommitRollsBackAndFreesTheLock(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType((database == TestDatabase.POSTGRESQL) ? LockLostException.class
					: DataAccessResourceFailureException.class)
				.isThrownBy(() -> locks(context).run("stock:A",
						() -> transaction(context).executeWithoutResult((status) -> {
							stock.write("A", 1);
							kill(database, context);
						})));
			assertThat(stock.quantity("A")).isEqualTo(100);
			stock.take("A", NOTHING);
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F30")
	void sessionThatIsKilledOutsideOfATransactionIsReported(TestDatabase database) {
		run(database, List.of(), (context) -> assertThatExceptionOfType(LockOverlapException.class).isThrownBy(
				() -> context.getBean(StockService.class).withoutTransaction("A", () -> kill(database, context))));
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void secondTransactionUnderTheLockCannotCommit(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate second = transaction(context);
			second.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> stock.take("A", () -> second.executeWithoutResult((status) -> stock.write("B", 1))))
				.withMessageContaining("another connection");
			assertThat(stock.quantity("A")).isEqualTo(100);
			assertThat(stock.quantity("B")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void newTransactionWithItsLockRunsBesideAnotherOne(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> transaction(context).executeWithoutResult((status) -> {
					stock.write("B", 1);
					stock.takeInNewTransaction("A", () -> assertThat(connections(context)).isEqualTo(2));
					throw new UnsupportedOperationException();
				}));
			assertThat(stock.quantity("A")).isEqualTo(99);
			assertThat(stock.quantity("B")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void severalAndNestedLocksShareAConnection(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			locks(context).run("outer", () -> {
				locks(context).execute(List.of("stock:B", "stock:A", "other"), () -> {
					assertThat(connections(context)).isOne();
					stock.take("A", () -> assertThat(connections(context)).isOne());
					return null;
				});
				onOtherThread(() -> assertThat(isFree(context, "stock:A")).isTrue());
				onOtherThread(() -> assertThat(isFree(context, "outer")).isFalse());
				stock.take("B", () -> assertThat(connections(context)).isOne());
			});
			assertThat(stock.quantity("A")).isEqualTo(99);
			assertThat(stock.quantity("B")).isEqualTo(99);
			assertThat(connections(context)).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@SuppressWarnings("try")
	void timeOutOfANestedLockKeepsTheOuterOne(TestDatabase database) {
		run(database, List.of("holdfast.wait-time=200ms"), (context) -> locks(context).run("outer", () -> {
			try (Holder other = new Holder(() -> locks(context).acquire("inner"))) {
				assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> locks(context).run("inner", NOTHING::run));
			}
			onOtherThread(() -> assertThat(isFree(context, "outer")).isFalse());
			context.getBean(StockService.class).take("A", NOTHING);
		}));
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void connectionsOfATransactionAwareProxyAreThoseOfTheLock(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			JdbcTemplate proxied = new JdbcTemplate(
					new TransactionAwareDataSourceProxy(context.getBean(DataSource.class)));
			stock.take("A", () -> {
				assertThat(sessionId(database, proxied)).isEqualTo(sessionId(database, jdbc(context)));
				proxied.update("UPDATE stock SET quantity = 7 WHERE sku = 'B'");
				assertThat(connections(context)).isOne();
			});
			assertThat(stock.quantity("B")).isEqualTo(7);
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void whatABodyLeavesOnTheConnectionIsUndone(TestDatabase database) {
		run(database, List.of(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			locks(context).run("stock:A", () -> {
				try (Connection connection = context.getBean(DataSource.class).getConnection()) {
					connection.setReadOnly(true);
					connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
					connection.setReadOnly(false);
					connection.setAutoCommit(false);
					try (Statement statement = connection.createStatement()) {
						statement.execute("UPDATE stock SET quantity = 1 WHERE sku = 'A'");
					}
					connection.setAutoCommit(false);
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
				try (Connection connection = context.getBean(DataSource.class).getConnection()) {
					assertThat(connection.getAutoCommit()).isTrue();
					assertThat(connection.getTransactionIsolation()).isNotEqualTo(Connection.TRANSACTION_SERIALIZABLE);
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
				assertThat(stock.quantity("A")).isEqualTo(100);
			});
		});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F25")
	@SuppressWarnings("try")
	void locksLeaveConnectionsForOthers(TestDatabase database) {
		run(database, List.of("spring.datasource.hikari.maximum-pool-size=3", "holdfast.wait-time=200ms"),
				(context) -> {
					try (Holder first = new Holder(() -> locks(context).acquire("1"));
							Holder second = new Holder(() -> locks(context).acquire("2"))) {
						assertThatExceptionOfType(LockBackendException.class)
							.isThrownBy(() -> locks(context).run("3", NOTHING::run))
							.withMessageContaining("'holdfast.jdbc.max-sessions'");
						assertThat(context.getBean(StockService.class).quantity("A")).isEqualTo(100);
					}
					locks(context).run("3", NOTHING::run);
				});
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void transactionsOfJpaRunOnTheConnectionOfTheLock(TestDatabase database) {
		application(database.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.withBean(PersistenceManagedTypes.class,
					() -> PersistenceManagedTypes.of(JpaStockService.Stock.class.getName()))
			.withBean(JpaStockService.class)
			.run((context) -> {
				JpaStockService stock = context.getBean(JpaStockService.class);
				stock.add("A", 100);
				stock.takeAnd("A", () -> assertThat(connections(context)).isOne());
				stock.inTransaction(() -> stock.takeInNewTransaction("A"));
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.takeAnd("A", () -> {
					kill(database, context);
					jdbc(context).execute("SELECT 1");
				}));
				assertThat(stock.look("A")).isEqualTo(98);
				assertThat(stock.take("A")).isEqualTo(97);
				assertThat(connections(context)).isZero();
			});
	}

	private static void run(TestDatabase database, List<String> properties, Consumer<ApplicationContext> test) {
		application(database.newDatabase()).withBean(StockService.class)
			.withPropertyValues(properties.toArray(String[]::new))
			.run((context) -> test.accept(context));
	}

	private static ApplicationContextRunner application(DatabaseAccess access) {
		return LockedApplication.jdbc(access)
			.withBean(DatabaseAccess.class, () -> access)
			// The purge takes a connection when it likes
			.withPropertyValues("holdfast.jdbc.mode=session", "holdfast.jdbc.purge-after=0");
	}

	private static int connections(ApplicationContext context) {
		try {
			return context.getBean(DataSource.class)
				.unwrap(HikariDataSource.class)
				.getHikariPoolMXBean()
				.getActiveConnections();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static LockTemplate locks(ApplicationContext context) {
		return context.getBean(LockTemplate.class);
	}

	private static JdbcTemplate jdbc(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class);
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static boolean isFree(ApplicationContext context, String key) {
		try {
			locks(context).withWaitTime(Duration.ZERO).run(key, NOTHING::run);
			return true;
		}
		catch (LockNotAcquiredException ex) {
			return false;
		}
	}

	private static long sessionId(TestDatabase database, JdbcTemplate jdbc) {
		Long id = jdbc.queryForObject(
				(database == TestDatabase.MARIADB) ? "SELECT CONNECTION_ID()" : "SELECT pg_backend_pid()", Long.class);
		assertThat(id).isNotNull();
		return id;
	}

	/**
	 * Let an administrator end the session of this thread, and wait until it is gone.
	 */
	private static void kill(TestDatabase database, ApplicationContext context) {
		long id = sessionId(database, jdbc(context));
		DatabaseAccess access = context.getBean(DatabaseAccess.class);
		boolean mariaDb = database == TestDatabase.MARIADB;
		try (Connection admin = DriverManager.getConnection(access.url(), access.user(), access.password());
				Statement statement = admin.createStatement()) {
			statement.execute(mariaDb ? "KILL " + id : "SELECT pg_terminate_backend(" + id + ")");
			await().until(() -> {
				try (ResultSet rs = statement
					.executeQuery(mariaDb ? "SELECT 1 FROM information_schema.processlist WHERE id = " + id
							: "SELECT 1 FROM pg_stat_activity WHERE pid = " + id)) {
					return !rs.next();
				}
			});
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void onOtherThread(Runnable work) {
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			executor.submit(work).get(60, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			executor.shutdownNow();
		}
	}

	/**
	 * Holds a lock on a thread of its own.
	 */
	private static final class Holder implements AutoCloseable {

		private final ExecutorService executor = Executors.newSingleThreadExecutor();

		private final LockTemplate.Scope scope;

		Holder(Callable<LockTemplate.Scope> acquire) {
			this.scope = get(acquire);
		}

		private <T> T get(Callable<T> call) {
			try {
				return this.executor.submit(call).get(60, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void close() {
			get(() -> {
				this.scope.close();
				return true;
			});
			this.executor.shutdownNow();
		}

	}

}
