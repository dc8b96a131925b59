package io.github.holdfast.benchmarks.contender;

import java.util.List;
import java.util.concurrent.TimeUnit;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.LockExecutor;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.executor.RedissonLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import org.redisson.api.RedissonClient;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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

	@SuppressWarnings("rawtypes")
	private Lock4jLockClient(LockExecutor<?> executor, Lock4jProperties properties) {
		List<LockExecutor> executors = List.of(executor);
		this.template.setProperties(properties);
		this.template.setExecutors(executors);
		try {
			this.template.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
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

	@Configuration(proxyBeanMethods = false)
	@Import(RedissonConfiguration.class)
	static class OnRedisson {

		@Bean
		LockClient lock4j(RedissonClient redisson) {
			return new Lock4jLockClient(new RedissonLockExecutor(redisson), new Lock4jProperties());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnRedisTemplate {

		@Bean
		LockClient lock4j(StringRedisTemplate redis) {
			Lock4jProperties properties = new Lock4jProperties();
			return new Lock4jLockClient(new RedisTemplateLockExecutor(redis, properties), properties);
		}

	}

}
