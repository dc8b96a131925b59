package io.github.holdfast.benchmarks.contender;

/**
 * Runs code under locks.
 */
public interface LockClient {

	/**
	 * Runs code under the lock of a key.
	 * @param key the key
	 * @param body the code
	 */
	void run(String key, Runnable body);

	/**
	 * Runs code in a transaction, which commits under the lock of a key.
	 * @param key the key
	 * @param transactions runs it in a transaction
	 * @param body the code
	 */
	default void runInTransaction(String key, Transactions transactions, Runnable body) {
		run(key, () -> transactions.run(body));
	}

}
