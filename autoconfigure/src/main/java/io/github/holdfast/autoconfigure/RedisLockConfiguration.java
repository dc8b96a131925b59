package io.github.holdfast.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.redis.RedisLockBackend;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Locks in the application's Redis.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBean(RedisConnectionFactory.class)
@Conditional(LockBackendCondition.class)
class RedisLockConfiguration {

	@Bean
	LockBackendCandidate redisLockBackend(ObjectProvider<RedisConnectionFactory> connectionFactory) {
		return new LockBackendCandidate(LockBackendType.REDIS,
				() -> new RedisLockBackend(() -> unique(connectionFactory)));
	}

	@Bean
	RedisLockServerCheck redisLockServerCheck(ObjectProvider<RedisConnectionFactory> connectionFactory,
			LockProperties properties) {
		return new RedisLockServerCheck(() -> unique(connectionFactory), properties);
	}

	private static RedisConnectionFactory unique(ObjectProvider<RedisConnectionFactory> connectionFactory) {
		RedisConnectionFactory unique = connectionFactory.getIfUnique();
		if (unique == null) {
			throw new LockConfigurationException("The lock backend 'redis' found several RedisConnectionFactory beans.",
					"Mark the one for the locks as @Primary.");
		}
		return unique;
	}

}
