package io.github.holdfast.benchmarks.redis;

/**
 * Runs code under locks in Redis.
 */
interface LockClient extends AutoCloseable {

	void run(String key, Runnable body);

	@Override
	default void close() {
	}

}
