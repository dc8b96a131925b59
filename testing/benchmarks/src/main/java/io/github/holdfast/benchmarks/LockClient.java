package io.github.holdfast.benchmarks;

import java.util.concurrent.locks.Lock;
import java.util.function.Function;

@FunctionalInterface
public interface LockClient {

	void run(String key, Runnable body);

	/** Runs code in a transaction, which commits under the lock of a key. */
	default void runInTransaction(String key, Transactions transactions, Runnable body) {
		run(key, () -> transactions.run(body));
	}

	/** A client of locks like those of the JDK. */
	static LockClient of(Function<String, ? extends Lock> locks) {
		return (key, body) -> {
			Lock lock = locks.apply(key);
			lock.lock();
			try {
				body.run();
			}
			finally {
				lock.unlock();
			}
		};
	}

}
