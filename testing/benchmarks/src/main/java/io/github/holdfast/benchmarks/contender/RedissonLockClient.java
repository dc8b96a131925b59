package io.github.holdfast.benchmarks.contender;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.annotation.Value;

/**
 * Locks of Redisson, which its watchdog renews.
 */
final class RedissonLockClient implements LockClient, AutoCloseable {

	private final RedissonClient redisson;

	RedissonLockClient(@Value("${spring.data.redis.port}") int port) {
		this.redisson = connect(port);
	}

	static RedissonClient connect(int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	@Override
	public void run(String key, Runnable body) {
		RLock lock = this.redisson.getLock(key);
		lock.lock();
		try {
			body.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Override
	public void close() {
		this.redisson.shutdown();
	}

}
