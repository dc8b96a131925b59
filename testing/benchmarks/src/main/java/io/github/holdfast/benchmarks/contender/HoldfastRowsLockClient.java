package io.github.holdfast.benchmarks.contender;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What Holdfast's transaction lock sends, without Holdfast: how fast it could be at most.
 */
final class HoldfastRowsLockClient implements LockClient {

	private final HoldfastRows rows;

	private final Set<String> known = ConcurrentHashMap.newKeySet();

	HoldfastRowsLockClient(JdbcTemplate jdbc) {
		this.rows = HoldfastRows.create(jdbc);
	}

	@Override
	public void run(String key, Runnable body) {
		throw new UnsupportedOperationException("There is no lock without a transaction");
	}

	@Override
	public void runInTransaction(String key, Transactions transactions, Runnable body) {
		if (!this.known.contains(key)) {
			insert(key, transactions);
		}
		transactions.run(() -> {
			long epoch = this.rows.lock(key);
			body.run();
			this.rows.ask(key, epoch);
		});
	}

	private void insert(String key, Transactions transactions) {
		try {
			transactions.run(() -> this.rows.insert(key));
		}
		catch (DuplicateKeyException ex) {
			// Another JVM, or Holdfast itself, has been faster
		}
		this.known.add(key);
	}

}
