package io.github.holdfast.benchmarks.redis;

import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.benchmarks.BenchmarkApplication;

/**
 * An application with Holdfast.
 */
final class HoldfastLockClient implements LockClient {

	private final ConfigurableApplicationContext application;

	private final LockClient calls;

	private HoldfastLockClient(ConfigurableApplicationContext application, LockClient calls) {
		this.application = application;
		this.calls = calls;
	}

	static HoldfastLockClient annotation(String backend, int port) {
		ConfigurableApplicationContext application = start(backend, port);
		return new HoldfastLockClient(application, application.getBean(Caller.class)::call);
	}

	static HoldfastLockClient template(String backend, int port) {
		ConfigurableApplicationContext application = start(backend, port);
		return new HoldfastLockClient(application, template(application.getBean(LockTemplate.class)));
	}

	private static LockClient template(LockTemplate template) {
		return (key, body) -> template.run(key, body::run);
	}

	private static ConfigurableApplicationContext start(String backend, int port) {
		return BenchmarkApplication.start(Beans.class, "holdfast.backend=" + backend, "spring.data.redis.port=" + port);
	}

	@Override
	public void run(String key, Runnable body) {
		this.calls.run(key, body);
	}

	@Override
	public void close() {
		this.application.close();
	}

	static class Caller {

		@DistributedLock(key = "#key")
		@Transactional
		public void call(String key, Runnable body) {
			body.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Caller caller() {
			return new Caller();
		}

		@Bean(destroyMethod = "shutdown")
		@Lazy
		RedissonClient redisson(@Value("${spring.data.redis.port}") int port) {
			return RedissonLockClient.connect(port);
		}

	}

}
