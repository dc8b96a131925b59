package io.github.holdfast.benchmarks.contender;

/**
 * No lock but that of the row, which the transaction itself takes.
 */
final class RowLockClient implements LockClient {

	@Override
	public void run(String key, Runnable body) {
		body.run();
	}

}
