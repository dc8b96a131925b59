package io.github.holdfast.benchmarks.contender;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

import org.springframework.beans.factory.annotation.Value;

/**
 * The mutex of Curator, in ZooKeeper.
 */
final class CuratorLockClient implements LockClient, AutoCloseable {

	private final CuratorFramework zooKeeper;

	CuratorLockClient(@Value("${benchmark.zookeeper}") String servers) {
		this.zooKeeper = CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(100, 5));
		this.zooKeeper.start();
	}

	@Override
	public void run(String key, Runnable body) {
		InterProcessMutex mutex = new InterProcessMutex(this.zooKeeper, "/locks/" + key);
		try {
			mutex.acquire();
			try {
				body.run();
			}
			finally {
				mutex.release();
			}
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.zooKeeper.close();
	}

}
