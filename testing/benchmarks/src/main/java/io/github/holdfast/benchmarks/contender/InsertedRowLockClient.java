package io.github.holdfast.benchmarks.contender;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.dao.DuplicateKeyException;

/**
 * No lock but that of a row of a table of locks, which is inserted at the first use of
 * its key.
 */
abstract class InsertedRowLockClient implements LockClient {

	private final Set<String> known = ConcurrentHashMap.newKeySet();

	/**
	 * Insert the row of a key.
	 */
	abstract void insert(String key);

	/**
	 * Lock the row in the running transaction, and run code.
	 */
	abstract void lockAndRun(String key, Runnable body);

	@Override
	public final void run(String key, Runnable body) {
		throw new UnsupportedOperationException("There is no lock without a transaction");
	}

	@Override
	public final void runInTransaction(String key, Transactions transactions, Runnable body) {
		if (!this.known.contains(key)) {
			insert(key, transactions);
		}
		transactions.run(() -> lockAndRun(key, body));
	}

	private void insert(String key, Transactions transactions) {
		try {
			transactions.run(() -> insert(key));
		}
		catch (DuplicateKeyException ex) {
			// Another thread, or JVM, or lock in the same table, has been faster
		}
		this.known.add(key);
	}

}
