package io.github.holdfast.benchmarks.contender;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What Holdfast's transaction lock sends, without Holdfast: how fast it could be at most.
 */
final class HoldfastRowsLockClient extends InsertedRowLockClient {

	private final HoldfastRows rows;

	HoldfastRowsLockClient(JdbcTemplate jdbc) {
		this.rows = HoldfastRows.create(jdbc);
	}

	@Override
	void insert(String key) {
		this.rows.insert(key);
	}

	@Override
	void lockAndRun(String key, Runnable body) {
		long epoch = this.rows.lock(key);
		body.run();
		this.rows.ask(key, epoch);
	}

}
