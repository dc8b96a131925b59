package io.github.holdfast.transaction;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import javax.sql.DataSource;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import org.hibernate.Interceptor;
import org.hibernate.Transaction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A method of a JPA manager calls one of a JDBC manager on the same {@code DataSource}:
 * Spring begins the second transaction on the connection of the first one, and what ends
 * the inner one ends on that connection what the outer one has done.
 */
@Tag("F94")
@Timeout(180)
class SharedConnectionTests {

	private static final Runnable NOTHING = () -> {
	};

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "H2,READ_ONLY", "MARIADB,READ_ONLY", "POSTGRESQL,READ_ONLY", "H2,FAILING", "MARIADB,FAILING",
			"POSTGRESQL,FAILING", "H2,WRITING", "MARIADB,WRITING", "POSTGRESQL,WRITING" })
	void innerTransactionWorksAsWithoutTheLock(TestDatabase database, Inner inner) {
		node(database.newDatabase(), Pool.DEFAULT).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.fill();
			Runnable within = () -> inner.run(context.getBean(Audit.class));
			orders.takeWithoutLock(1, within, NOTHING);
			int notes = orders.notes();
			assertThat(orders.quantity()).as("without the lock").isEqualTo(99);
			letItClaim(orders);
			if (inner == Inner.FAILING) {
				tryTwice(() -> orders.take(1, within, NOTHING));
			}
			else {
				orders.take(1, within, NOTHING);
			}
			assertThat(orders.quantity()).as("after a call that has claimed").isEqualTo(98);
			orders.take(1, within, NOTHING);
			assertThat(orders.quantity()).as("after another call").isEqualTo(97);
			assertThat(orders.notes()).isEqualTo(3 * notes);
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,NONE,DEFAULT", "MARIADB,NONE,DEFAULT", "POSTGRESQL,NONE,DEFAULT", "H2,READ_ONLY,DEFAULT",
			"MARIADB,READ_ONLY,DEFAULT", "POSTGRESQL,READ_ONLY,DEFAULT", "H2,FAILING,DEFAULT",
			"MARIADB,FAILING,DEFAULT", "POSTGRESQL,FAILING,DEFAULT", "POSTGRESQL,READ_ONLY,BEHIND_PROXIES",
			"POSTGRESQL,FAILING,BEHIND_PROXIES" })
	void noUpdateIsLostWithALockThatIsLostAfterTheInnerTransaction(TestDatabase database, Inner inner, Pool pool) {
		twoNodes(database, pool, (node, other) -> {
			letItClaim(node.orders());
			AcknowledgedSales sales = new AcknowledgedSales();
			AtomicBoolean otherHasSold = new AtomicBoolean();
			Throwable refusal = sales.sell(1, () -> node.orders().take(1, () -> {
				inner.run(node.audit());
				this.redis.command("FLUSHALL");
				otherHasSold.set(sales.sellMeanwhile(5, () -> other.orders().take(5, NOTHING, NOTHING)) == null);
			}, NOTHING));
			sales.assertNoneIsLostIn(node.orders().quantity());
			if (otherHasSold.get()) {
				assertThat(refusal).isInstanceOfAny(LockLostException.class, ConcurrencyFailureException.class);
			}
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,false", "MARIADB,false", "POSTGRESQL,false", "H2,true", "MARIADB,true", "POSTGRESQL,true" })
	void listenerOfTheInnerTransactionWritesInTheOuterOne(TestDatabase database, boolean locked) {
		node(database.newDatabase(), Pool.DEFAULT).withBean(Listener.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.fill();
			take(orders, locked, context.getBean(Audit.class)::recordAndPublish);
			assertThat(orders.quantity()).isEqualTo(99);
			assertThat(orders.notes()).as("one of the inner transaction, and one of its listener").isEqualTo(2);
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,DEFAULT,true", "H2,NO_AUTO_COMMIT,false", "H2,NO_AUTO_COMMIT,true", "H2,OTHER,false",
			"H2,OTHER,true", "MARIADB,NO_AUTO_COMMIT,false", "MARIADB,NO_AUTO_COMMIT,true", "MARIADB,OTHER,false",
			"MARIADB,OTHER,true", "POSTGRESQL,NO_AUTO_COMMIT,false", "POSTGRESQL,NO_AUTO_COMMIT,true",
			"POSTGRESQL,REPEATABLE_READ,false", "POSTGRESQL,REPEATABLE_READ,true", "POSTGRESQL,OTHER,false",
			"POSTGRESQL,OTHER,true" })
	void failureOfTheInnerTransactionRollsTheOuterOneBack(TestDatabase database, Pool pool, boolean locked) {
		node(database.newDatabase(), pool).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.fill();
			assertThatIllegalArgumentException()
				.isThrownBy(() -> take(orders, locked, context.getBean(Audit.class)::fail));
			assertThat(orders.quantity()).isEqualTo(100);
			assertThat(orders.notes()).isZero();
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,DEFAULT", "H2,NO_AUTO_COMMIT", "H2,OTHER", "MARIADB,NO_AUTO_COMMIT", "MARIADB,OTHER",
			"POSTGRESQL,NO_AUTO_COMMIT", "POSTGRESQL,OTHER" })
	void supersededHolderCommitsNothingWithTheBeginOfTheInnerTransaction(TestDatabase database, Pool pool) {
		twoNodes(database, pool, (node, other) -> {
			AcknowledgedSales sales = new AcknowledgedSales();
			Throwable refusal = sales.sell(1, () -> node.orders().take(1, () -> {
				this.redis.command("FLUSHALL");
				assertThat(sales.sellMeanwhile(5, () -> other.orders().take(5, NOTHING, NOTHING))).isNull();
			}, node.audit()::record));
			sales.assertNoneIsLostIn(node.orders().quantity());
			assertThat(refusal).isInstanceOf(LockLostException.class);
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,DEFAULT", "H2,NO_AUTO_COMMIT", "H2,OTHER", "MARIADB,NO_AUTO_COMMIT", "MARIADB,OTHER",
			"POSTGRESQL,NO_AUTO_COMMIT", "POSTGRESQL,REPEATABLE_READ", "POSTGRESQL,OTHER" })
	void refusedCallThatIsTriedAgainSellsOnce(TestDatabase database, Pool pool) {
		node(database.newDatabase(), pool).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.fill();
			letItClaim(orders);
			tryTwice(() -> orders.take(1, NOTHING, context.getBean(Audit.class)::record));
			assertThat(orders.quantity()).isEqualTo(99);
			assertThat(orders.notes()).isOne();
		});
	}

	/**
	 * Which would free the row of the lock before the outer transaction has ended.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,READ_ONLY,DEFAULT", "MARIADB,READ_ONLY,DEFAULT", "POSTGRESQL,READ_ONLY,DEFAULT",
			"H2,WRITING,DEFAULT", "MARIADB,WRITING,DEFAULT", "POSTGRESQL,WRITING,DEFAULT",
			"H2,READ_ONLY,BEHIND_PROXIES", "MARIADB,READ_ONLY,BEHIND_PROXIES", "POSTGRESQL,READ_ONLY,BEHIND_PROXIES",
			"POSTGRESQL,WRITING,BEHIND_PROXIES" })
	void innerCommitIsRefusedOnceWhereTheTransactionHasLockedItsRow(TestDatabase database, Inner inner, Pool pool) {
		assertRefusedOnce(database, pool, (node) -> node.orders().take(1, NOTHING, () -> inner.run(node.audit())),
				(node) -> node.orders().take(1, NOTHING, () -> inner.run(node.audit())));
	}

	/**
	 * What frees the row is told to the outer transaction, whether its method catches the
	 * failure or not.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,FAILING,DEFAULT", "MARIADB,FAILING,DEFAULT", "POSTGRESQL,FAILING,DEFAULT",
			"POSTGRESQL,FAILING,BEHIND_PROXIES", "POSTGRESQL,REFUSED,DEFAULT", "POSTGRESQL,REFUSED,BEHIND_PROXIES" })
	void transactionWhoseRowWasFreedByAnInnerRollbackIsRefusedOnce(TestDatabase database, Inner inner, Pool pool) {
		assertRefusedOnce(database, pool, (node) -> node.orders().take(1, () -> inner.run(node.audit()), NOTHING),
				(node) -> node.orders().take(1, NOTHING, NOTHING));
	}

	private void assertRefusedOnce(TestDatabase database, Pool pool, Consumer<Node> sale, Consumer<Node> next) {
		node(database.newDatabase(), pool).withPropertyValues("holdfast.backend=jdbc").run((context) -> {
			Node node = new Node(context);
			node.orders().fill();
			letItClaim(node.orders());
			assertThatExceptionOfType(ConcurrencyFailureException.class).isThrownBy(() -> sale.accept(node))
				.withMessageContaining("Try again");
			assertThat(node.orders().quantity()).isEqualTo(100);
			assertThat(node.orders().notes()).isZero();
			next.accept(node);
			assertThat(node.orders().quantity()).isEqualTo(99);
		});
	}

	/**
	 * Hibernate calls the application between the check and the COMMIT.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,jdbc,FAILING", "MARIADB,jdbc,FAILING", "POSTGRESQL,jdbc,FAILING", "H2,redis,READ_ONLY",
			"MARIADB,redis,READ_ONLY", "POSTGRESQL,redis,READ_ONLY", "POSTGRESQL,redis,WRITING" })
	void noOtherTransactionEndsOneThatIsCheckedAlready(TestDatabase database, String backend, Inner inner) {
		twoNodes(database, Pool.DEFAULT, backend, (node, other) -> {
			letItClaim(node.orders());
			letItClaim(other.orders());
			AcknowledgedSales sales = new AcknowledgedSales();
			AtomicReference<Throwable> failure = new AtomicReference<>();
			node.hooks().beforeCommit(() -> {
				failure.set(catchThrowable(() -> inner.run(node.audit())));
				this.redis.command("FLUSHALL");
				sales.sellMeanwhile(5, () -> other.orders().take(5, NOTHING, NOTHING));
				node.orders().write(99);
			});
			sales.sell(1, () -> node.orders().take(1, NOTHING, NOTHING));
			sales.assertNoneIsLostIn(node.orders().quantity());
			assertThat(failure.get()).hasStackTraceContaining("is about to be committed");
		});
	}

	/**
	 * No commit of such a method is the release of its lock.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,lease", "MARIADB,lease", "POSTGRESQL,lease", "H2,transaction", "MARIADB,transaction",
			"POSTGRESQL,transaction" })
	void callbackThatIsRegisteredBetweenCheckAndCommitHasTheLock(TestDatabase database, String mode) {
		twoNodes(database, Pool.DEFAULT, "jdbc", (node, other) -> {
			for (int i = 0; i < 3; i++) {
				node.hooks().beforeCommit(() -> afterCommit(NOTHING));
				node.orders().take(0, NOTHING, NOTHING);
			}
			AcknowledgedSales sales = new AcknowledgedSales();
			node.hooks().beforeCommit(() -> afterCommit(() -> {
				int quantity = node.orders().quantity();
				assertThat(sales.sellMeanwhile(5, () -> other.orders().take(5, NOTHING, NOTHING)))
					.isInstanceOf(LockNotAcquiredException.class);
				node.orders().write(quantity - 10);
			}));
			assertThat(sales.sell(11, () -> node.orders().take(1, NOTHING, NOTHING))).isNull();
			sales.assertNoneIsLostIn(node.orders().quantity());
		}, "holdfast.jdbc.mode=" + mode);
	}

	/**
	 * Its session has switched auto-commit on again, so that nothing can be rolled back.
	 */
	@Test
	void lossIsToldIfACallbackThatIsRegisteredBetweenCheckAndCommitHasWritten() {
		twoNodes(TestDatabase.H2, Pool.DEFAULT, "redis", (node, other) -> {
			node.hooks().beforeCommit(() -> afterCommit(() -> {
				this.redis.command("FLUSHALL");
				node.orders().write(90);
			}));
			assertThatExceptionOfType(LockOverlapException.class)
				.isThrownBy(() -> node.orders().take(1, NOTHING, NOTHING));
		});
	}

	static void afterCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.run();
			}

		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,DEFAULT", "MARIADB,NO_AUTO_COMMIT", "POSTGRESQL,DEFAULT", "POSTGRESQL,NO_AUTO_COMMIT" })
	void hookAfterTheCommitMayHaveATransaction(TestDatabase database, Pool pool) {
		node(database.newDatabase(), pool).run((context) -> {
			Node node = new Node(context);
			node.orders().fill();
			node.hooks().afterCommit(node.audit()::record);
			node.orders().takeWithoutLock(1, NOTHING, NOTHING);
			assertThat(node.orders().notes()).isOne();
			node.hooks().afterCommit(node.audit()::record);
			node.orders().take(1, NOTHING, NOTHING);
			assertThat(node.orders().quantity()).isEqualTo(98);
			assertThat(node.orders().notes()).isEqualTo(2);
		});
	}

	private static void take(Orders orders, boolean locked, Runnable whenWritten) {
		if (locked) {
			orders.take(1, NOTHING, whenWritten);
		}
		else {
			orders.takeWithoutLock(1, NOTHING, whenWritten);
		}
	}

	private static void letItClaim(Orders orders) {
		for (int i = 0; i < 3; i++) {
			orders.take(0, NOTHING, NOTHING);
		}
	}

	private static void tryTwice(Runnable call) {
		try {
			call.run();
		}
		catch (ConcurrencyFailureException ex) {
			assertThat(ex).hasMessageContaining("Try again");
			call.run();
		}
	}

	private void twoNodes(TestDatabase database, Pool pool, Scenario scenario) {
		twoNodes(database, pool, "redis", scenario);
	}

	private void twoNodes(TestDatabase database, Pool pool, String backend, Scenario scenario, String... properties) {
		DatabaseAccess access = database.newDatabase().impatient();
		ApplicationContextRunner node = node(access, pool)
			.withPropertyValues("holdfast.wait-time=2s", "holdfast.backend=" + backend)
			.withPropertyValues(properties);
		node.run((first) -> node.run((second) -> {
			first.getBean(Orders.class).fill();
			scenario.run(new Node(first), new Node(second));
		}));
	}

	private ApplicationContextRunner node(DatabaseAccess access, Pool pool) {
		return RedisStore.REDIS.application(access, this.redis.port())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always",
					"spring.jpa.hibernate.ddl-auto=update")
			.withPropertyValues(pool.properties)
			.withUserConfiguration(TwoManagers.class);
	}

	private enum Pool {

		DEFAULT,

		NO_AUTO_COMMIT("spring.datasource.hikari.auto-commit=false"),

		REPEATABLE_READ("spring.datasource.hikari.auto-commit=false",
				"spring.datasource.hikari.transaction-isolation=TRANSACTION_REPEATABLE_READ"),

		BEHIND_PROXIES("shop.behind-proxies=true"),

		OTHER("spring.datasource.type=org.springframework.jdbc.datasource.SimpleDriverDataSource");

		private final String[] properties;

		Pool(String... properties) {
			this.properties = properties;
		}

	}

	private enum Inner {

		NONE {

			@Override
			void run(Audit audit) {
			}

		},

		READ_ONLY {

			@Override
			void run(Audit audit) {
				audit.count();
			}

		},

		FAILING {

			@Override
			void run(Audit audit) {
				assertThatIllegalArgumentException().isThrownBy(audit::fail);
			}

		},

		WRITING {

			@Override
			void run(Audit audit) {
				audit.record();
			}

		},

		REFUSED {

			@Override
			void run(Audit audit) {
				assertThatExceptionOfType(ConcurrencyFailureException.class).isThrownBy(audit::record);
			}

		};

		abstract void run(Audit audit);

	}

	private interface Scenario {

		void run(Node node, Node other);

	}

	private record Node(Orders orders, Audit audit, Hooks hooks) {

		Node(ApplicationContext context) {
			this(context.getBean(Orders.class), context.getBean(Audit.class), context.getBean(Hooks.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(Item.class.getName(), Note.class.getName());
		}

		@Bean
		static Hooks hooks() {
			return new Hooks();
		}

		@Bean
		static HibernatePropertiesCustomizer withHooks(Hooks hooks) {
			return (properties) -> properties.put("hibernate.session_factory.interceptor", hooks);
		}

		@Bean
		@Primary
		JpaTransactionManager jpaManager(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

		/**
		 * Behind proxies it has a connection for itself, as far as Spring knows.
		 */
		@Bean
		JdbcTransactionManager jdbcManager(DataSource dataSource,
				@Value("${shop.behind-proxies:false}") boolean behindProxies) {
			return new JdbcTransactionManager(behindProxies
					? new DelegatingDataSource(new TransactionAwareDataSourceProxy(dataSource)) : dataSource);
		}

		@Bean
		Audit audit(JdbcTemplate jdbc, ApplicationEventPublisher events) {
			return new Audit(jdbc, events);
		}

		@Bean
		Orders orders(EntityManager entities, JdbcTemplate jdbc) {
			return new Orders(entities, jdbc);
		}

	}

	@Entity(name = "item")
	static class Item {

		@Id
		private String sku = "";

		private int quantity;

	}

	@Entity(name = "note")
	static class Note {

		@Id
		private long id;

	}

	record Recorded() {
	}

	/**
	 * What Hibernate calls once, within the next commit.
	 */
	static class Hooks implements Interceptor {

		private final AtomicReference<Runnable> before = new AtomicReference<>(NOTHING);

		private final AtomicReference<Runnable> after = new AtomicReference<>(NOTHING);

		void beforeCommit(Runnable action) {
			this.before.set(action);
		}

		void afterCommit(Runnable action) {
			this.after.set(action);
		}

		@Override
		public void beforeTransactionCompletion(Transaction transaction) {
			this.before.getAndSet(NOTHING).run();
		}

		@Override
		public void afterTransactionCompletion(Transaction transaction) {
			this.after.getAndSet(NOTHING).run();
		}

	}

	static class Listener {

		private final Audit audit;

		Listener(Audit audit) {
			this.audit = audit;
		}

		@TransactionalEventListener
		public void on(Recorded recorded) {
			this.audit.insert();
		}

	}

	static class Audit {

		private final JdbcTemplate jdbc;

		private final ApplicationEventPublisher events;

		Audit(JdbcTemplate jdbc, ApplicationEventPublisher events) {
			this.jdbc = jdbc;
			this.events = events;
		}

		public void insert() {
			this.jdbc.update("INSERT INTO note (id) VALUES (?)", System.nanoTime());
		}

		@Transactional("jdbcManager")
		public void record() {
			insert();
		}

		@Transactional("jdbcManager")
		public void recordAndPublish() {
			insert();
			this.events.publishEvent(new Recorded());
		}

		@Transactional("jdbcManager")
		public void fail() {
			insert();
			throw new IllegalArgumentException("The audit fails");
		}

		@Transactional(transactionManager = "jdbcManager", readOnly = true)
		public void count() {
			this.jdbc.queryForObject("SELECT count(*) FROM note", Integer.class);
		}

	}

	/**
	 * Sells from one stock.
	 */
	static class Orders {

		private final EntityManager entities;

		private final JdbcTemplate jdbc;

		Orders(EntityManager entities, JdbcTemplate jdbc) {
			this.entities = entities;
			this.jdbc = jdbc;
		}

		@Transactional("jdbcManager")
		public void fill() {
			this.jdbc.update("INSERT INTO item (sku, quantity) VALUES ('A', 100)");
		}

		@DistributedLock(key = "'A'")
		@Transactional("jpaManager")
		public void take(int pieces, Runnable whileRead, Runnable whenWritten) {
			doTake(pieces, whileRead, whenWritten);
		}

		@Transactional("jpaManager")
		public void takeWithoutLock(int pieces, Runnable whileRead, Runnable whenWritten) {
			doTake(pieces, whileRead, whenWritten);
		}

		private void doTake(int pieces, Runnable whileRead, Runnable whenWritten) {
			Item item = this.entities.find(Item.class, "A");
			whileRead.run();
			item.quantity -= pieces;
			this.entities.flush();
			whenWritten.run();
		}

		public void write(int quantity) {
			this.jdbc.update("UPDATE item SET quantity = ?", quantity);
		}

		public int quantity() {
			return number("SELECT quantity FROM item");
		}

		public int notes() {
			return number("SELECT count(*) FROM note");
		}

		private int number(String sql) {
			Integer number = this.jdbc.queryForObject(sql, Integer.class);
			return (number != null) ? number : -1;
		}

	}

}
