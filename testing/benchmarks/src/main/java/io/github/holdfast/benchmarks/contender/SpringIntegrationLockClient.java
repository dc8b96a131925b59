package io.github.holdfast.benchmarks.contender;

import java.util.concurrent.locks.Lock;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.jdbc.lock.LockRepository;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * A lock registry of Spring Integration, with its defaults.
 */
final class SpringIntegrationLockClient implements LockClient {

	private final LockRegistry<?> registry;

	SpringIntegrationLockClient(LockRegistry<?> registry) {
		this.registry = registry;
	}

	@Override
	public void run(String key, Runnable body) {
		Lock lock = this.registry.obtain(key);
		lock.lock();
		try {
			body.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class PubSub {

		@Bean
		RedisLockRegistry lockRegistry(RedisConnectionFactory redis) {
			RedisLockRegistry registry = new RedisLockRegistry(redis, "benchmark");
			registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
			return registry;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Spin {

		@Bean
		RedisLockRegistry lockRegistry(RedisConnectionFactory redis) {
			return new RedisLockRegistry(redis, "benchmark");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Jdbc {

		private static final String TABLE = """
				create table if not exists INT_LOCK (
					LOCK_KEY char(36) not null,
					REGION varchar(100) not null,
					CLIENT_ID char(36),
					CREATED_DATE %1$s(6) not null,
					EXPIRED_AFTER %1$s(6) not null,
					primary key (LOCK_KEY, REGION)
				)
				""";

		@Bean
		DefaultLockRepository lockRepository(HikariDataSource dataSource) {
			boolean postgres = dataSource.getJdbcUrl().startsWith("jdbc:postgresql:");
			new JdbcTemplate(dataSource).execute(TABLE.formatted(postgres ? "timestamp" : "datetime"));
			DefaultLockRepository repository = new DefaultLockRepository(dataSource);
			repository.setTransactionManager(new JdbcTransactionManager(dataSource));
			return repository;
		}

		@Bean
		JdbcLockRegistry lockRegistry(LockRepository repository) {
			return new JdbcLockRegistry(repository);
		}

	}

}
