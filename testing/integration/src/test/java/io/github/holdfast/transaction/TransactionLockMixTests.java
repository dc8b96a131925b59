package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.jdbc.JdbcLockPurge;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads of two nodes sell from one stock in all ways at the same time, while rows are
 * purged and holders evicted. What is sold is noted in the same transaction.
 */
@Tag("long")
@Tag("F25")
@Timeout(180)
class TransactionLockMixTests {

	private static final Logger logger = LoggerFactory.getLogger(TransactionLockMixTests.class);

	private static final int STOCK = 1_000_000;

	private static final Duration TIME = Duration.ofMillis(Long.getLong("test.mix-millis", 1000));

	static Stream<Arguments> setups() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of(Setup.values()).map((setup) -> Arguments.of(database, setup)));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void nothingIsLostAndNobodyIsStuck(TestDatabase database, Setup setup) {
		assertThat(lostUpdates(database, setup, setup.ways())).isZero();
	}

	/**
	 * Without annotations, nothing locks the row.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void updatesAreLostWithoutLocks(TestDatabase database) {
		assertThat(lostUpdates(database, Setup.PLAIN, List.of(Way.WITHOUT_LOCK))).isPositive();
	}

	private static int lostUpdates(TestDatabase database, Setup setup, List<Way> ways) {
		DatabaseAccess access = database.newDatabase();
		AtomicInteger lost = new AtomicInteger();
		try (HikariDataSource admin = access.dataSource(1)) {
			JdbcTemplate jdbc = new JdbcTemplate(admin);
			LockedShop.createTables(jdbc);
			jdbc.execute("CREATE TABLE note (entry integer)");
			jdbc.update("UPDATE stock SET quantity = ?", STOCK);
			node(access, setup, "transaction").run((first) -> node(access, setup, setup.otherMode()).run((second) -> {
				sell(List.of(first, second), setup, ways);
				int sold = number(jdbc, "SELECT count(*) FROM audit");
				assertThat(sold).isPositive();
				lost.set(sold - (STOCK - number(jdbc, "SELECT quantity FROM stock")));
			}));
		}
		return lost.get();
	}

	private static int number(JdbcTemplate jdbc, String sql) {
		Integer number = jdbc.queryForObject(sql, Integer.class);
		return (number != null) ? number : -1;
	}

	private static void sell(List<ApplicationContext> nodes, Setup setup, List<Way> ways) throws Exception {
		Map<String, AtomicInteger> ends = new ConcurrentHashMap<>();
		long end = System.nanoTime() + TIME.toNanos();
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			List<Future<Void>> calls = new ArrayList<>();
			for (ApplicationContext node : nodes) {
				for (int i = 0; i < 4; i++) {
					int thread = i;
					calls.add(threads
						.submit(until(end, ends, (turn) -> call(node, ways.get((turn * 7 + thread) % ways.size())))));
				}
			}
			if (!setup.isSmall()) {
				ApplicationContext node = nodes.get(1);
				JdbcLockPurge purge = new JdbcLockPurge(() -> node.getBean(DataSource.class), Duration.ZERO);
				calls.add(threads.submit(until(end, ends, (turn) -> {
					purge.run(() -> true);
					TimeUnit.MILLISECONDS.sleep(30);
					return "purge";
				})));
				calls.add(threads.submit(until(end, ends, (turn) -> evict(node.getBean(LockManager.class)))));
			}
			for (Future<Void> call : calls) {
				call.get(90, TimeUnit.SECONDS);
			}
			logger.info("{}: {}", setup, new TreeMap<>(ends));
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static String evict(LockManager manager) throws InterruptedException {
		TimeUnit.MILLISECONDS.sleep(50);
		return "evict " + manager.forceRelease("holdfast:stock");
	}

	private static Callable<Void> until(long end, Map<String, AtomicInteger> ends, Turn turn) {
		return () -> {
			for (int i = 0; System.nanoTime() < end; i++) {
				String outcome;
				try {
					outcome = turn.take(i);
				}
				catch (RuntimeException ex) {
					outcome = ex.toString();
				}
				ends.computeIfAbsent(outcome, (name) -> new AtomicInteger()).incrementAndGet();
			}
			return null;
		};
	}

	private static String call(ApplicationContext node, Way way) {
		Shop shop = node.getBean(Shop.class);
		LockTemplate locks = node.getBean(LockTemplate.class);
		TransactionTemplate transaction = new TransactionTemplate(node.getBean(PlatformTransactionManager.class));
		try {
			switch (way) {
				case ONE -> shop.one();
				case APART -> shop.apart();
				case SEVERAL -> shop.several();
				case NESTED -> shop.nested();
				case CAUGHT -> shop.caught();
				case NEVER_ROLLED_BACK -> shop.neverRolledBack();
				case BEFORE_COMMIT -> shop.beforeCommit();
				case REPEATABLE -> shop.repeatable();
				case READ_ONLY -> shop.look();
				case INNER -> shop.inner();
				case TEMPLATE -> locks.run("stock", () -> transaction.executeWithoutResult((status) -> shop.sell()));
				case WITHOUT_LOCK -> transaction.executeWithoutResult((status) -> shop.sell());
				case OPTIMISTIC -> locks.withMode(LockMode.OPTIMISTIC)
					.run("stock", () -> transaction.executeWithoutResult((status) -> shop.sell()));
			}
			return way + " ok";
		}
		catch (RuntimeException ex) {
			return way + " " + ex.getClass().getSimpleName();
		}
	}

	private static ApplicationContextRunner node(DatabaseAccess access, Setup setup, String mode) {
		return LockedApplication.jdbc(access)
			.withUserConfiguration(setup.configuration())
			.withBean(Inner.class)
			.withBean(Shop.class)
			.withPropertyValues(setup.properties())
			.withPropertyValues("holdfast.jdbc.mode=" + mode, "holdfast.wait-time=20s", "holdfast.lease-time=2s");
	}

	/**
	 * A turn of a thread.
	 */
	private interface Turn {

		String take(int turn) throws Exception;

	}

	/**
	 * A way to sell.
	 */
	private enum Way {

		ONE, APART, SEVERAL, NESTED, CAUGHT, NEVER_ROLLED_BACK, BEFORE_COMMIT, REPEATABLE, READ_ONLY, INNER, TEMPLATE,
		OPTIMISTIC, WITHOUT_LOCK

	}

	/**
	 * How the nodes get their connections, and their locks.
	 */
	private enum Setup {

		PLAIN(Plain.class), OTHER_NODE_BY_LEASES(Plain.class),
		NO_AUTO_COMMIT(Plain.class, "spring.datasource.hikari.auto-commit=false"), LAZY(Lazy.class),
		TRANSACTION_AWARE(TransactionAware.class),
		POOL_OF_ONE(Plain.class, "spring.datasource.hikari.maximum-pool-size=1"),
		POOL_OF_TWO(Plain.class, "spring.datasource.hikari.maximum-pool-size=2");

		private final Class<?> configuration;

		private final String[] properties;

		Setup(Class<?> configuration, String... properties) {
			this.configuration = configuration;
			this.properties = properties;
		}

		Class<?> configuration() {
			return this.configuration;
		}

		String[] properties() {
			return this.properties;
		}

		String otherMode() {
			return (this == OTHER_NODE_BY_LEASES) ? "lease" : "transaction";
		}

		boolean isSmall() {
			return this == POOL_OF_ONE || this == POOL_OF_TWO;
		}

		/**
		 * An inner transaction needs a connection beside that of the outer one.
		 */
		List<Way> ways() {
			return Stream.of(Way.values())
				.filter((way) -> way != Way.WITHOUT_LOCK && (way != Way.INNER || !isSmall()))
				.toList();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Plain {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Lazy {

		@Bean
		static BeanPostProcessor lazyConnections() {
			return wrapping(LazyConnectionDataSourceProxy::new);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class TransactionAware {

		@Bean
		static BeanPostProcessor transactionAware() {
			return wrapping(TransactionAwareDataSourceProxy::new);
		}

	}

	private static BeanPostProcessor wrapping(UnaryOperator<DataSource> wrapper) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof DataSource dataSource) ? wrapper.apply(dataSource) : bean;
			}

		};
	}

	/**
	 * Writes in transactions of its own.
	 */
	static class Inner {

		private final JdbcTemplate jdbc;

		Inner(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void write() {
			this.jdbc.update("INSERT INTO note VALUES (1)");
		}

	}

	/**
	 * Sells from one stock.
	 */
	static class Shop extends LockedShop {

		private final JdbcTemplate jdbc;

		private final Inner inner;

		private final ApplicationEventPublisher events;

		private final TransactionTemplate savepoint;

		Shop(JdbcTemplate jdbc, Inner inner, ApplicationEventPublisher events, PlatformTransactionManager manager) {
			super(jdbc);
			this.jdbc = jdbc;
			this.inner = inner;
			this.events = events;
			this.savepoint = new TransactionTemplate(manager);
			this.savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		}

		/**
		 * In the transaction that runs.
		 */
		void sell() {
			int quantity = quantity();
			Thread.yield();
			this.jdbc.update("INSERT INTO audit VALUES (1)");
			sell(quantity);
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void one() {
			sell();
		}

		@DistributedLock(key = "'stock'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void apart() {
			sell();
		}

		@DistributedLock(key = "{'stock', 'other stock'}")
		@Transactional
		public void several() {
			sell();
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void nested() {
			sell();
			this.savepoint.executeWithoutResult((status) -> {
				sell();
				status.setRollbackOnly();
			});
			this.savepoint.executeWithoutResult((status) -> sell());
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void caught() {
			sell();
			try {
				this.jdbc.update("INSERT INTO audit VALUES (NULL)");
			}
			catch (DataAccessException ex) {
				sell();
			}
		}

		@DistributedLock(key = "'stock'")
		@Transactional(noRollbackFor = RuntimeException.class)
		public void neverRolledBack() {
			sell();
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void beforeCommit() {
			this.events.publishEvent(TransactionPhase.BEFORE_COMMIT);
		}

		@TransactionalEventListener(condition = "#root.args[0].name() == 'BEFORE_COMMIT'",
				phase = TransactionPhase.BEFORE_COMMIT)
		public void sellBeforeCommit(TransactionPhase phase) {
			sell();
		}

		@DistributedLock(key = "'stock'")
		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void repeatable() {
			sell();
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void inner() {
			this.inner.write();
			sell();
		}

	}

}
