package io.github.holdfast.benchmarks.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.LockExecutor;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.executor.RedissonLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.util.Assert;

/**
 * The template of Lock4j. A lease time is given: without one its locks are never renewed
 * or each starts a thread, depending on the executor.
 */
final class Lock4jLockClient implements LockClient {

	private static final long LEASE_MILLIS = TimeUnit.SECONDS.toMillis(30);

	private static final long WAIT_MILLIS = TimeUnit.MINUTES.toMillis(1);

	private final LockTemplate template = new LockTemplate();

	private final Runnable shutdown;

	@SuppressWarnings("rawtypes")
	private Lock4jLockClient(LockExecutor<?> executor, Lock4jProperties properties, Runnable shutdown) {
		List<LockExecutor> executors = List.of(executor);
		this.template.setProperties(properties);
		this.template.setExecutors(executors);
		this.shutdown = shutdown;
		try {
			this.template.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	static Lock4jLockClient redisson(int port) {
		RedissonClient redisson = RedissonLockClient.connect(port);
		return new Lock4jLockClient(new RedissonLockExecutor(redisson), new Lock4jProperties(), redisson::shutdown);
	}

	static Lock4jLockClient redisTemplate(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port));
		factory.afterPropertiesSet();
		factory.start();
		Lock4jProperties properties = new Lock4jProperties();
		return new Lock4jLockClient(new RedisTemplateLockExecutor(new StringRedisTemplate(factory), properties),
				properties, factory::destroy);
	}

	@Override
	public void run(String key, Runnable body) {
		LockInfo lock = this.template.lock(key, LEASE_MILLIS, WAIT_MILLIS);
		Assert.state(lock != null, "Not locked");
		try {
			body.run();
		}
		finally {
			this.template.releaseLock(lock);
		}
	}

	@Override
	public void close() {
		this.shutdown.run();
	}

}
