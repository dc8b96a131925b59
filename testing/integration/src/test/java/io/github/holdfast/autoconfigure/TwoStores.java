package io.github.holdfast.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * Two stores, of which either can keep the lock {@code A} of an application, and the
 * stock that it sells, which is in the first one: a database, and Redis.
 */
final class TwoStores implements AutoCloseable {

	private final RedisServer redis = RedisServer.start();

	private final DatabaseAccess database = TestDatabase.MARIADB.newDatabase();

	private final HikariDataSource operator = this.database.dataSource(2);

	private final JdbcTemplate sql = new JdbcTemplate(this.operator);

	RedisServer redis() {
		return this.redis;
	}

	DatabaseAccess database() {
		return this.database;
	}

	/**
	 * The database as an operator sees it, behind everybody's back.
	 */
	JdbcTemplate sql() {
		return this.sql;
	}

	/**
	 * An application that can use both.
	 */
	ApplicationContextRunner application() {
		return LockedApplication.jdbc(this.database)
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.redis.port(),
					"spring.datasource.hikari.maximum-pool-size=6", "spring.datasource.hikari.minimum-idle=0",
					"holdfast.fence.initialize-schema=always");
	}

	/**
	 * Begins anew, with a stock of 100.
	 */
	void reset() {
		this.redis.command("FLUSHALL");
		for (String table : List.of("holdfast_lock", "holdfast_fence", "stock")) {
			this.sql.execute("DROP TABLE IF EXISTS " + table);
		}
		this.sql.execute("CREATE TABLE stock (available integer)");
		this.sql.update("INSERT INTO stock VALUES (100)");
	}

	/**
	 * How many holders there are in the lock table and in Redis.
	 */
	List<Long> holders() {
		return List.of(
				this.sql.queryForObject("SELECT count(*) FROM holdfast_lock WHERE owner IS NOT NULL", Long.class),
				(Long) this.redis.command("EXISTS", "{lock:A}"));
	}

	/**
	 * Sells one, under whatever lock is held.
	 * @param node the application
	 * @param meanwhile what happens between its read and its write
	 */
	static void sell(ApplicationContext node, Runnable meanwhile) {
		new TransactionTemplate(node.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			JdbcTemplate sql = node.getBean(JdbcTemplate.class);
			int available = sql.queryForObject("SELECT available FROM stock", Integer.class);
			meanwhile.run();
			sql.update("UPDATE stock SET available = ?", available - 1);
		});
	}

	int available() {
		return this.sql.queryForObject("SELECT available FROM stock", Integer.class);
	}

	void takeAwayInRedis() {
		this.redis.command("DEL", "{lock:A}");
	}

	void takeAwayInTheTable() {
		this.sql.update("DELETE FROM holdfast_lock");
	}

	/**
	 * Runs something on another thread.
	 * @param call what is run
	 * @return what it has thrown, if anything
	 */
	static @Nullable Throwable elsewhere(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> new Thread(task).start())
			.handle((result, ex) -> (ex != null) ? ex.getCause() : null)
			.orTimeout(30, TimeUnit.SECONDS)
			.join();
	}

	@Override
	public void close() {
		this.operator.close();
		this.redis.close();
	}

}
