package io.github.holdfast.jobs;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;

/**
 * A hundred pieces: what is left is read, and written after a while. Nobody waits for the
 * lock. It is public, as JobRunr calls it by reflection.
 */
public class Stock {

	static final int PIECES = 100;

	private final JdbcClient jdbc;

	private final Pause pause;

	private final AtomicInteger calls = new AtomicInteger();

	Stock(JdbcTemplate jdbc, Pause pause) {
		this.jdbc = JdbcClient.create(jdbc);
		this.pause = pause;
		this.jdbc.sql("CREATE TABLE IF NOT EXISTS stock (quantity INT NOT NULL)").update();
		this.jdbc.sql("INSERT INTO stock SELECT ? WHERE NOT EXISTS (SELECT 1 FROM stock)").param(PIECES).update();
		this.jdbc.sql("CREATE TABLE IF NOT EXISTS visit (visitor VARCHAR(100) NOT NULL)").update();
	}

	/**
	 * A node, with its own context and connections.
	 */
	static ApplicationContextRunner node(DatabaseAccess database, Pause pause) {
		return LockedApplication.jdbc(database).withBean(Pause.class, () -> pause).withBean(Stock.class);
	}

	@DistributedLock(key = "'stock'", waitTime = "0s")
	@Transactional
	public void take() {
		takeOne();
	}

	@DistributedLock(key = "'stock'", waitTime = "0s", onBusy = OnBusy.SKIP)
	@Transactional
	public void takeOrSkip() {
		takeOne();
	}

	/**
	 * For callers that have the lock and a transaction.
	 */
	public void takeOne() {
		int left = left();
		this.calls.incrementAndGet();
		this.pause.hold();
		this.jdbc.sql("UPDATE stock SET quantity = ?").param(left - 1).update();
	}

	public int left() {
		return this.jdbc.sql("SELECT quantity FROM stock").query(Integer.class).single();
	}

	/**
	 * How many calls of this node have read.
	 */
	public int calls() {
		return this.calls.get();
	}

	/**
	 * Changes nothing that is there, and needs no lock.
	 */
	public void visit(String visitor) {
		this.jdbc.sql("INSERT INTO visit VALUES (?)").param(visitor).update();
	}

	/**
	 * The visits on all nodes.
	 */
	public List<String> visitors() {
		return this.jdbc.sql("SELECT visitor FROM visit").query(String.class).list();
	}

}
