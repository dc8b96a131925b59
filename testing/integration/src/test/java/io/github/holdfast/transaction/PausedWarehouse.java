package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stock, and three nodes that sell from it. Again and again one of them is paused for
 * longer than its lease, and then goes on.
 */
final class PausedWarehouse implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final int STOCK = 100_000;

	private final HikariDataSource business;

	private final List<ChildJvm> nodes = new ArrayList<>();

	/**
	 * Create the stock and start the nodes.
	 * @param database the database of the stock
	 * @param node starts a node that sells from the stock of a database
	 */
	PausedWarehouse(TestDatabase database, Function<DatabaseAccess, ChildJvm> node) {
		DatabaseAccess access = database.newRemoteDatabase();
		this.business = access.dataSource(2);
		LockPlace.createTable(this.business, database);
		JdbcTemplate jdbc = new JdbcTemplate(this.business);
		jdbc.execute("CREATE TABLE stock (quantity integer NOT NULL)");
		jdbc.execute("CREATE TABLE sale (pieces integer NOT NULL)");
		jdbc.update("INSERT INTO stock VALUES (?)", STOCK);
		for (int i = 0; i < 2; i++) {
			this.nodes.add(node.apply(access));
		}
	}

	/**
	 * Wait until a node says something.
	 */
	void await(String line) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.nodes.stream().anyMatch((node) -> node.poll(line).isPresent()));
	}

	/**
	 * Stop whichever node comes to a point of its sale for longer than its lease.
	 */
	void pauseAHolder(String point) throws InterruptedException {
		ChildJvm node = atPoint(point);
		node.pause();
		TimeUnit.NANOSECONDS.sleep(SalesWorker.LEASE_TIME.multipliedBy(3).toNanos() / 2);
		node.resume();
	}

	private ChildJvm atPoint(String point) {
		this.nodes.forEach((node) -> {
			while (node.poll(point).isPresent()) {
				// One of the past
			}
		});
		return Awaitility.await()
			.pollInterval(Duration.ofMillis(2))
			.atMost(PATIENCE)
			.until(() -> this.nodes.stream().filter((it) -> it.poll(point).isPresent()).findAny(), Optional::isPresent)
			.orElseThrow();
	}

	/**
	 * Stop whichever node comes to a point of its sale, until the others have sold.
	 */
	void pauseAHolderUntilOthersSell(String point) {
		ChildJvm node = atPoint(point);
		node.pause();
		try {
			long sales = sales();
			Awaitility.await().atMost(PATIENCE).until(() -> sales() > sales);
		}
		finally {
			node.resume();
		}
	}

	void endSales() throws InterruptedException {
		this.nodes.forEach((node) -> node.send("enough"));
		for (ChildJvm node : this.nodes) {
			node.await("ENDED", PATIENCE);
			assertThat(node.poll("FAILED ")).isEmpty();
		}
	}

	long sales() {
		return number("SELECT count(*) FROM sale");
	}

	long lostUpdates() {
		return number("SELECT (SELECT count(*) FROM sale) - (" + STOCK + " - quantity) FROM stock");
	}

	private long number(String sql) {
		Long number = new JdbcTemplate(this.business).queryForObject(sql, Long.class);
		return (number != null) ? number : -1;
	}

	@Override
	public void close() {
		this.nodes.forEach(ChildJvm::close);
		this.business.close();
	}

}
