package io.github.holdfast.transaction.attack;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lease is renewed while its transaction reads from a snapshot, at levels at which the
 * database refuses to lock rows that have changed since. MariaDB does so at REPEATABLE
 * READ with {@code innodb_snapshot_isolation}.
 */
@Timeout(600)
class RenewedLeaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String INIT = "spring.datasource.hikari.connection-init-sql=";

	private static final String SNAPSHOTS = INIT + "SET innodb_snapshot_isolation = ON";

	@ParameterizedTest
	@CsvSource({ "H2, SERIALIZABLE", "MARIADB, REPEATABLE_READ", "POSTGRESQL, REPEATABLE_READ",
			"POSTGRESQL, SERIALIZABLE" })
	void transactionThatOutlastsItsLeaseCommits(Database database, Isolation isolation) {
		assertNoFalseLoss(database, isolation, 10, 1, "holdfast.jdbc.mode=lease");
	}

	@ParameterizedTest
	@CsvSource({ "H2, SERIALIZABLE", "MARIADB, REPEATABLE_READ", "POSTGRESQL, REPEATABLE_READ",
			"POSTGRESQL, SERIALIZABLE" })
	@Tag("long")
	void noneOfFiveHundredTransactionsThatOutlastTheirLeaseIsLost(Database database, Isolation isolation) {
		assertNoFalseLoss(database, isolation, 100, 5, "holdfast.jdbc.mode=lease");
	}

	/** Leases of another store are not in the row, so one database is enough for them. */
	@Test
	void transactionThatOutlastsALeaseOfAnotherStoreCommits() {
		assertNoFalseLoss(Database.MARIADB, Isolation.REPEATABLE_READ, 1, 1, new ForgetfulStore());
	}

	private static void assertNoFalseLoss(Database database, Isolation isolation, int keys, int rounds, Object place) {
		boolean renewed = place instanceof ForgetfulStore;
		Duration leaseTime = Duration.ofSeconds(renewed ? 2 : 1);
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, place, "holdfast.lease-time=" + leaseTime,
				"holdfast.commit-guard=fence", "spring.datasource.hikari.maximum-pool-size=120",
				(database == Database.MARIADB) ? SNAPSHOTS : "none=")) {
			connect(nodes.first.context().getBean(DataSource.class), keys + 10);
			Nodes.together(keys, (key) -> {
				for (int round = 0; round < rounds; round++) {
					workUntilSerialized(nodes.first, isolation, leaseTime, renewed, key * rounds + round);
				}
			});
			assertThat(nodes.sales())
				.containsExactlyElementsOf(IntStream.rangeClosed(1, keys * rounds).boxed().toList());
		}
	}

	/** Fill the pool, so that no lease runs out while a connection is made. */
	private static void connect(DataSource dataSource, int connections) {
		List<Connection> open = new ArrayList<>();
		try {
			for (int i = 0; i < connections; i++) {
				open.add(dataSource.getConnection());
			}
			for (Connection connection : open) {
				connection.close();
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The database may answer so at that level: the call is repeated. */
	private static void workUntilSerialized(Nodes.Node node, Isolation isolation, Duration leaseTime, boolean renewed,
			int id) {
		for (boolean done = false; !done;) {
			try {
				work(node, isolation, leaseTime, renewed, id);
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
	private static void work(Nodes.Node node, Isolation isolation, Duration leaseTime, boolean renewed, int id) {
		TransactionTemplate transaction = node.transaction();
		transaction.setIsolationLevel(isolation.value());
		node.locks().run("key-" + id, () -> transaction.executeWithoutResult((status) -> {
			node.jdbc().queryForList("SELECT id FROM item");
			LockContext lock = LockContext.current().orElseThrow();
			long end = end(lock);
			long start = System.nanoTime();
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> (renewed ? end(lock) - end : System.nanoTime() - start) > leaseTime.multipliedBy(2)
					.toNanos());
			assertThat(lock.isValid()).isTrue();
			node.insertAfter(id);
		}));
	}

	private static long end(LockContext lock) {
		return System.nanoTime() + lock.remaining().toNanos();
	}

}
