package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.ApplicationContext;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lease is renewed while its transaction reads from a snapshot, at levels at which the
 * database refuses to lock rows that have changed since. MariaDB does so at REPEATABLE
 * READ with {@code innodb_snapshot_isolation}.
 */
class RenewedLeaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest(name = "{0}, {1}, {2}")
	@MethodSource("levels")
	void transactionThatOutlastsItsLeaseCommits(TestDatabase database, LockPlace place, Isolation isolation) {
		assertNoFalseLoss(database, place, isolation, Duration.ofSeconds(2), 10, 1);
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("levelsInOneDatabase")
	@Tag("long")
	void noneOfFiveHundredTransactionsThatOutlastTheirLeaseIsLost(TestDatabase database, Isolation isolation) {
		assertNoFalseLoss(database, LockPlace.BUSINESS_DATABASE, isolation, Duration.ofSeconds(2), 100, 5);
	}

	/** Leases of another store are not in the row, so one database is enough for them. */
	static Stream<Arguments> levels() {
		return Stream.concat(
				levelsInOneDatabase().map(Arguments::get)
					.map((level) -> Arguments.of(level[0], LockPlace.BUSINESS_DATABASE, level[1])),
				Stream.of(Arguments.of(TestDatabase.MARIADB, LockPlace.OTHER_DATABASE, Isolation.REPEATABLE_READ)));
	}

	static Stream<Arguments> levelsInOneDatabase() {
		return Stream.of(Arguments.of(TestDatabase.H2, Isolation.SERIALIZABLE),
				Arguments.of(TestDatabase.MARIADB, Isolation.REPEATABLE_READ),
				Arguments.of(TestDatabase.POSTGRESQL, Isolation.REPEATABLE_READ),
				Arguments.of(TestDatabase.POSTGRESQL, Isolation.SERIALIZABLE));
	}

	private static void assertNoFalseLoss(TestDatabase database, LockPlace place, Isolation isolation,
			Duration leaseTime, int keys, int rounds) {
		place.application(database)
			.withPropertyValues("holdfast.lease-time=" + leaseTime, "spring.datasource.hikari.maximum-pool-size=120",
					"spring.datasource.hikari.minimum-idle=0")
			.withPropertyValues((database == TestDatabase.MARIADB)
					? "spring.datasource.hikari.connection-init-sql=SET innodb_snapshot_isolation = ON" : "none=")
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("CREATE TABLE snapshot (id integer PRIMARY KEY)");
				jdbc.execute("CREATE TABLE work (id integer PRIMARY KEY)");
				connect(context.getBean(DataSource.class), keys + 10);
				ExecutorService executor = Executors.newFixedThreadPool(keys);
				try {
					List<Future<?>> workers = new ArrayList<>();
					for (int i = 0; i < keys; i++) {
						int first = i * rounds;
						workers.add(executor.submit(() -> {
							for (int round = 0; round < rounds; round++) {
								workUntilSerialized(context, place, isolation, leaseTime, first + round);
							}
						}));
					}
					for (Future<?> worker : workers) {
						worker.get(PATIENCE.multipliedBy(rounds).toSeconds(), TimeUnit.SECONDS);
					}
				}
				finally {
					executor.shutdownNow();
				}
				assertThat(jdbc.queryForObject("SELECT count(*) FROM work", Integer.class)).isEqualTo(keys * rounds);
			});
	}

	/** Fill the pool, so that no lease runs out while a connection is made. */
	private static void connect(DataSource dataSource, int connections) throws SQLException {
		List<Connection> open = new ArrayList<>();
		for (int i = 0; i < connections; i++) {
			open.add(dataSource.getConnection());
		}
		for (Connection connection : open) {
			connection.close();
		}
	}

	/** The database may answer so at that level: the call is repeated. */
	private static void workUntilSerialized(ApplicationContext context, LockPlace place, Isolation isolation,
			Duration leaseTime, int id) {
		for (boolean done = false; !done;) {
			try {
				work(context, place, isolation, leaseTime, id);
				done = true;
			}
			catch (CannotAcquireLockException ex) {
				assertThat(isolation).isEqualTo(Isolation.SERIALIZABLE);
				assertThat(ex).rootCause()
					.asInstanceOf(InstanceOfAssertFactories.type(SQLException.class))
					.extracting(SQLException::getSQLState)
					.isEqualTo("40001");
			}
		}
	}

	/**
	 * Commit two lease times after the snapshot. The leases of another store are renewed
	 * meanwhile; those of this database are not, as their rows are locked. No two
	 * transactions have read what the other one writes.
	 */
	private static void work(ApplicationContext context, LockPlace place, Isolation isolation, Duration leaseTime,
			int id) {
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		transaction.setIsolationLevel(isolation.value());
		context.getBean(LockTemplate.class).run("key-" + id, () -> transaction.executeWithoutResult((status) -> {
			jdbc.queryForList("SELECT id FROM snapshot");
			LockContext lock = LockContext.current().orElseThrow();
			long end = end(lock);
			long start = System.nanoTime();
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> ((place == LockPlace.OTHER_DATABASE) ? end(lock) - end
						: System.nanoTime() - start) > leaseTime.multipliedBy(2).toNanos());
			assertThat(lock.isValid()).isTrue();
			jdbc.update("INSERT INTO work VALUES (?)", id);
		}));
	}

	private static long end(LockContext lock) {
		return System.nanoTime() + lock.remaining().toNanos();
	}

}
