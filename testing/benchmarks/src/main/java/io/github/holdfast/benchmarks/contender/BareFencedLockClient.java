package io.github.holdfast.benchmarks.contender;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The bare commands, and a row by hand in the transaction: what a fence costs at least.
 */
final class BareFencedLockClient implements LockClient, AutoCloseable {

	private final BareLockClient lock;

	private final RowUpdateLockClient fence;

	BareFencedLockClient(@Value("${spring.data.redis.port}") int port, JdbcTemplate jdbc) {
		this.lock = new BareLockClient(port);
		this.fence = new RowUpdateLockClient(jdbc);
	}

	@Override
	public void run(String key, Runnable body) {
		this.lock.run(key, body);
	}

	@Override
	public void runInTransaction(String key, Transactions transactions, Runnable body) {
		run(key, () -> this.fence.runInTransaction(key, transactions, body));
	}

	@Override
	public void close() {
		this.lock.close();
	}

}
