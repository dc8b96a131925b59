package io.github.holdfast.transaction.attack;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.HoldfastAutoConfiguration;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.DatabaseAccess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes of an application on one database. Each sale counts the sales before it, and
 * inserts the next number: if an update is lost, a number is there twice. Nothing but the
 * lock keeps two sales apart.
 */
final class Nodes implements AutoCloseable {

	/** As a part, it lets the first node be the second one, too. */
	static final Object ALONE = new Object();

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private final Database database;

	private final DatabaseAccess access;

	private final Connection observer;

	private final Object[] parts;

	private final List<Node> started = new ArrayList<>();

	final Node first;

	final Node second;

	Nodes(Database database, Object... parts) {
		this.database = database;
		this.access = database.create();
		this.parts = parts;
		try {
			this.observer = connect();
			execute("CREATE TABLE sale (n integer NOT NULL)");
			execute("CREATE TABLE item (id integer PRIMARY KEY, sold integer NOT NULL, label varchar(10))");
			execute("INSERT INTO item (id, sold) VALUES (1, 0), (2, 0)");
			this.first = start();
			this.second = List.of(this.parts).contains(ALONE) ? this.first : start();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Connection connect() throws SQLException {
		return DriverManager.getConnection(this.access.url(), this.access.user(), this.access.password());
	}

	private Node start() {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues
			.of("url=" + this.access.url(), "spring.datasource.url=${url}",
					"spring.datasource.username=" + this.access.user(),
					"spring.datasource.password=" + this.access.password(), "spring.datasource.hikari.minimum-idle=0",
					"spring.jpa.hibernate.ddl-auto=none", "spring.jpa.open-in-view=false",
					"holdfast.jdbc.initialize-schema=always", "holdfast.wait-time=" + PATIENCE.toSeconds() + "s")
			.applyTo(context);
		if (this.database == Database.CONNECTOR_J) {
			// Hibernate asks it for metadata that MariaDB does not have
			TestPropertyValues
				.of("spring.jpa.database-platform=org.hibernate.dialect.MariaDBDialect",
						"spring.jpa.properties.hibernate.boot.allow_jdbc_metadata_access=false")
				.applyTo(context);
		}
		context.register(NodeConfiguration.class);
		for (Object part : this.parts) {
			if (part instanceof String property) {
				TestPropertyValues.of(property).applyTo(context);
			}
			else if (part instanceof LockBackend store) {
				context.registerBean(LockBackend.class, () -> store);
			}
			else if (part != ALONE) {
				context.register((Class<?>) part);
			}
		}
		try {
			context.refresh();
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
		Node node = new Node(context);
		this.started.add(node);
		return node;
	}

	static CompletableFuture<Void> async(Runnable work) {
		return CompletableFuture.runAsync(work, (task) -> new Thread(task).start());
	}

	/** Runs work on several threads, which begin together, to the end of all. */
	static void together(int threads, IntConsumer work) {
		CountDownLatch start = new CountDownLatch(threads);
		CompletableFuture.allOf(IntStream.range(0, threads).mapToObj((thread) -> async(() -> {
			start.countDown();
			await(start);
			work.accept(thread);
		})).toArray(CompletableFuture<?>[]::new)).join();
	}

	static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static void await(BooleanSupplier condition) {
		// InnoDB shows what it showed before to those who ask more than ten times a
		// second
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(150))
			.pollInSameThread()
			.until(condition::getAsBoolean);
	}

	/**
	 * Waits until a session waits for a row, or something has happened that it prevents.
	 */
	void awaitBlockedOr(BooleanSupplier happened) {
		await(() -> happened.getAsBoolean() || blocked() > 0);
	}

	int blocked() {
		return query(this.database.waiting).get(0);
	}

	/** Waits until the lease in the table has run out, as others see it. */
	void awaitRunOut() {
		await(() -> query(
				"SELECT count(*) FROM holdfast_lock WHERE expires_at > 0 AND expires_at <= " + this.database.now)
			.get(0) > 0);
	}

	/** The leases in the table, as others see them. */
	int leases() {
		return query("SELECT count(*) FROM holdfast_lock WHERE expires_at > " + this.database.now).get(0);
	}

	List<Integer> sales() {
		return query("SELECT n FROM sale ORDER BY n");
	}

	int soldItems() {
		return query("SELECT sold FROM item WHERE id = 1").get(0);
	}

	/** Ends the session of a transaction from outside. */
	void kill(long session) {
		execute(String.format(this.database.kill, session));
	}

	long session(Node node) {
		Long session = node.jdbc().queryForObject(this.database.session, Long.class);
		assertThat(session).isNotNull();
		return session;
	}

	synchronized void execute(String sql) {
		try (Statement statement = this.observer.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private synchronized List<Integer> query(String sql) {
		try (Statement statement = this.observer.createStatement(); ResultSet rs = statement.executeQuery(sql)) {
			List<Integer> numbers = new ArrayList<>();
			while (rs.next()) {
				numbers.add(rs.getInt(1));
			}
			return numbers;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Makes the transaction of a node the victim of a deadlock, on each database. */
	void loseDeadlock(Node node, Deadlock deadlock) {
		node.jdbc().update("UPDATE item SET sold = sold + 1 WHERE id = 1");
		CompletableFuture<Void> other = async(deadlock::run);
		await(() -> blocked() > 0);
		try {
			node.jdbc().update("UPDATE item SET sold = sold + 1 WHERE id = 2");
			throw new AssertionError("No deadlock");
		}
		catch (ConcurrencyFailureException ex) {
			// The body goes on
		}
		other.join();
	}

	Deadlock beginDeadlock() {
		try {
			return new Deadlock(connect());
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.started.forEach((node) -> node.context.close());
		try {
			this.observer.close();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A transaction that is about to meet another one. */
	record Deadlock(Connection connection) {

		Deadlock {
			try (Statement statement = connection.createStatement()) {
				statement.execute("CREATE TABLE ballast (id integer PRIMARY KEY)");
				connection.setAutoCommit(false);
				for (int i = 0; i < 50; i++) {
					statement.execute("INSERT INTO ballast VALUES (" + i + ")");
				}
				statement.execute("UPDATE item SET sold = sold + 1 WHERE id = 2");
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		void run() {
			try (Connection mine = this.connection; Statement statement = mine.createStatement()) {
				statement.execute("UPDATE item SET sold = sold + 1 WHERE id = 1");
				mine.rollback();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	record Node(AnnotationConfigApplicationContext context) {

		Shop shop() {
			return this.context.getBean(Shop.class);
		}

		LockTemplate locks() {
			return this.context.getBean(LockTemplate.class);
		}

		JdbcTemplate jdbc() {
			return this.context.getBean(JdbcTemplate.class);
		}

		TransactionTemplate transaction() {
			return new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
		}

		TransactionTemplate newTransaction() {
			TransactionTemplate transaction = transaction();
			transaction.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
			return transaction;
		}

		int count() {
			Integer count = jdbc().queryForObject("SELECT count(*) FROM sale", Integer.class);
			assertThat(count).isNotNull();
			return count;
		}

		void insertAfter(int count) {
			jdbc().update("INSERT INTO sale VALUES (?)", count + 1);
		}

		void sell() {
			insertAfter(count());
		}

		/** How many calls wait for a lock. */
		long waiting() {
			return this.context.getBean(LockManager.class)
				.snapshots()
				.stream()
				.filter((call) -> call.holdTime() == null)
				.count();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class,
			TransactionManagerCustomizationAutoConfiguration.class, HoldfastAutoConfiguration.class })
	@Import(Shop.class)
	static class NodeConfiguration {

	}

}
