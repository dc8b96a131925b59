package io.github.holdfast.benchmarks;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/** Methods with a lock and a transaction, as an application has them. */
class HoldfastCalls implements LockClient {

	@Override
	@DistributedLock(key = "#key")
	@Transactional
	public void run(String key, Runnable body) {
		body.run();
	}

	@Override
	@DistributedLock(key = "#key")
	@Transactional
	public void runInTransaction(String key, Transactions transactions, Runnable body) {
		body.run();
	}

}
