package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A DataSource that sends read-only transactions to a replica, which takes writes here,
 * so that a lock of the wrong database would be granted.
 */
@Tag("F95")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
class ReadWriteSplittingTests {

	private static final String NAMED = "holdfast.fenced-transaction-managers=transactionManager";

	private static final List<String> LOCK_TABLES = List.of("holdfast_lock", "holdfast_fence", "holdfast_renewal");

	private static final Executor THREADS = (task) -> new Thread(task).start();

	private HikariDataSource writer;

	private HikariDataSource replica;

	@BeforeAll
	void createDatabases() {
		this.writer = database();
		this.replica = database();
	}

	private static HikariDataSource database() {
		HikariDataSource pool = TestDatabase.POSTGRESQL.newDatabase().dataSource(16);
		DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/schema-postgresql.sql");
		DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/fence-schema-postgresql.sql");
		LockedShop.createTables(new JdbcTemplate(pool));
		return pool;
	}

	@BeforeEach
	void freeLocks() {
		for (DataSource database : List.of(this.writer, this.replica)) {
			LOCK_TABLES.forEach((table) -> new JdbcTemplate(database).update("DELETE FROM " + table));
			new JdbcTemplate(database).update("UPDATE stock SET quantity = 100");
		}
	}

	@AfterAll
	void closePools() {
		this.writer.close();
		this.replica.close();
	}

	static Stream<Arguments> applications() {
		return Stream.of(Splitting.values())
			.flatMap((splitting) -> Stream.of(Locks.values())
				.filter((locks) -> splitting.isRouter() || locks == Locks.LEASE)
				.map((locks) -> Arguments.of(splitting, locks)));
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LEASE")
	void routerFailsTheStartUntilItsManagerIsNamed(Locks locks) {
		for (Splitting splitting : List.of(Splitting.ROUTER, Splitting.LAZY_ROUTER)) {
			application(splitting, locks).run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("'transactionManager'")
				.hasMessageContaining("chooses among several connection pools"));
			application(splitting, locks).withPropertyValues(NAMED)
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	/**
	 * As a method that only reads may call one that writes in a transaction of its own.
	 */
	@ParameterizedTest
	@MethodSource("applications")
	void lockThatIsTakenInsideOfAReadOnlyTransactionIsThatOfTheWriter(Splitting splitting, Locks locks) {
		ApplicationContextRunner application = application(splitting, locks).withPropertyValues(NAMED,
				"holdfast.wait-time=0s");
		application.run((first) -> application.run((second) -> {
			Shop shop = second.getBean(Shop.class);
			Shop inside = first.getBean(Shop.class);
			Runnable other = () -> CompletableFuture.runAsync(() -> shop.take(Thread::yield), THREADS).join();
			inside.reading(() -> inside
				.takeInNewTransaction(() -> assertThatExceptionOfType(CompletionException.class).isThrownBy(other::run)
					.withCauseInstanceOf(LockNotAcquiredException.class)));
			await("the release, which is not waited for").ignoreExceptionsInstanceOf(LockNotAcquiredException.class)
				.until(() -> {
					shop.take(Thread::yield);
					return true;
				});
		}));
		assertThat(pieces(this.writer)).isEqualTo(100 - 2);
		assertNothingIsOnTheReplica();
	}

	@ParameterizedTest
	@MethodSource("applications")
	void nothingIsSoldTwice(Splitting splitting, Locks locks) {
		ApplicationContextRunner application = application(splitting, locks).withPropertyValues(NAMED,
				"holdfast.wait-time=60s");
		application.run((first) -> application.run((second) -> {
			for (ApplicationContext node : List.of(first, second)) {
				node.getBean(Shop.class).take(Thread::yield);
			}
			CompletableFuture
				.allOf(Stream.of(first, second, first, second).map((node) -> CompletableFuture.runAsync(() -> {
					Shop shop = node.getBean(Shop.class);
					for (int i = 0; i < 5; i++) {
						shop.take(Thread::yield);
						shop.reading(() -> shop.takeInNewTransaction(Thread::yield));
					}
				}, THREADS)).toArray(CompletableFuture[]::new))
				.join();
		}));
		assertThat(pieces(this.writer)).isEqualTo(100 - 42);
		assertNothingIsOnTheReplica();
	}

	/**
	 * Only a proxy that waits for the first statement knows by then that the transaction
	 * is read-only. Its lock is that of the writer, and its commit looks for it where it
	 * has read.
	 */
	@ParameterizedTest
	@MethodSource("applications")
	void readOnlyMethodReadsFromTheWriterOrIsRefused(Splitting splitting, Locks locks) {
		application(splitting, locks).withPropertyValues(NAMED).run((context) -> {
			Shop shop = context.getBean(Shop.class);
			shop.take(Thread::yield);
			if (!splitting.isLazy()) {
				assertThat(shop.look()).isEqualTo(99);
			}
			else if (locks == Locks.LEASE) {
				assertThat(shop.look()).as("as old as the replica").isEqualTo(100);
			}
			else {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(shop::look);
			}
		});
		assertNothingIsOnTheReplica();
	}

	/**
	 * It is released while Spring still speaks of the transaction.
	 */
	@ParameterizedTest
	@MethodSource("applications")
	void lockThatIsKeptUntilTheEndOfAReadOnlyTransactionIsReleased(Splitting splitting, Locks locks) {
		application(splitting, locks)
			.withPropertyValues(NAMED, "holdfast.on-active-transaction=release-after-completion",
					"holdfast.wait-time=0s")
			.run((context) -> {
				Shop shop = context.getBean(Shop.class);
				try {
					shop.reading(shop::look);
				}
				catch (LockLostException ex) {
					assertThat(splitting.isLazy()).isTrue();
				}
				shop.take(Thread::yield);
			});
		assertNothingIsOnTheReplica();
	}

	private void assertNothingIsOnTheReplica() {
		JdbcTemplate jdbc = new JdbcTemplate(this.replica);
		for (String table : LOCK_TABLES) {
			assertThat(jdbc.queryForObject("SELECT count(*) FROM " + table, Integer.class)).as(table).isZero();
		}
		assertThat(pieces(this.replica)).isEqualTo(100);
	}

	private static int pieces(DataSource database) {
		return new JdbcTemplate(database).queryForObject("SELECT quantity FROM stock", Integer.class);
	}

	private ApplicationContextRunner application(Splitting splitting, Locks locks) {
		return LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> splitting.dataSource(this.writer, this.replica))
			.withBean(Shop.class)
			.withPropertyValues("holdfast.jdbc.initialize-schema=never",
					"holdfast.key-prefix=" + UUID.randomUUID() + ":", "spring.data.redis.host=127.0.0.1",
					"spring.data.redis.port=" + RedisServer.shared().port())
			.withPropertyValues(locks.properties);
	}

	private static boolean isReadOnly() {
		return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
	}

	/**
	 * How read-only transactions get to the replica, whose pool is no bean.
	 */
	enum Splitting {

		ROUTER {

			@Override
			DataSource dataSource(DataSource writer, DataSource replica) {
				return new Router(writer, replica);
			}

		},

		LAZY_ROUTER {

			@Override
			DataSource dataSource(DataSource writer, DataSource replica) {
				return new LazyConnectionDataSourceProxy(new Router(writer, replica));
			}

		},

		LAZY_TARGET {

			@Override
			DataSource dataSource(DataSource writer, DataSource replica) {
				LazyConnectionDataSourceProxy proxy = new LazyConnectionDataSourceProxy(writer);
				proxy.setReadOnlyDataSource(replica);
				return proxy;
			}

		},

		OWN {

			@Override
			DataSource dataSource(DataSource writer, DataSource replica) {
				return new AbstractDataSource() {

					@Override
					public Connection getConnection() throws SQLException {
						return (isReadOnly() ? replica : writer).getConnection();
					}

					@Override
					public Connection getConnection(String user, String password) throws SQLException {
						return getConnection();
					}

				};
			}

		};

		abstract DataSource dataSource(DataSource writer, DataSource replica);

		boolean isRouter() {
			return this == ROUTER || this == LAZY_ROUTER;
		}

		boolean isLazy() {
			return this == LAZY_ROUTER || this == LAZY_TARGET;
		}

	}

	enum Locks {

		TRANSACTION("holdfast.backend=jdbc"),

		MODE_LEASE("holdfast.backend=jdbc", "holdfast.jdbc.mode=lease"),

		LEASE("holdfast.backend=jdbc", "holdfast.jdbc.mode=lease", "holdfast.commit-guard=lease"),

		FENCE("holdfast.backend=redis", "holdfast.commit-guard=fence");

		private final String[] properties;

		Locks(String... properties) {
			this.properties = properties;
		}

	}

	private static final class Router extends AbstractRoutingDataSource {

		private Router(DataSource writer, DataSource replica) {
			setDefaultTargetDataSource(writer);
			setTargetDataSources(Map.of(true, replica));
			initialize();
		}

		@Override
		protected Object determineCurrentLookupKey() {
			return isReadOnly();
		}

	}

	static class Shop extends LockedShop {

		Shop(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@Transactional(readOnly = true)
		public void reading(Runnable body) {
			quantity();
			body.run();
		}

		@DistributedLock(key = "'stock'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void takeInNewTransaction(Runnable whileRead) {
			sell(whileRead);
		}

	}

}
