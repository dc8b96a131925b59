package io.github.holdfast.autoconfigure;

import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.redis.RedisLockBackend;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Locks in Redis through the application's Redisson client.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedissonClient.class)
@ConditionalOnBean(RedissonClient.class)
@Conditional(LockBackendCondition.class)
class RedissonLockConfiguration {

	@Bean
	LockBackendCandidate redissonLockBackend(ObjectProvider<RedissonClient> client) {
		return new LockBackendCandidate(LockBackendType.REDISSON,
				() -> RedisLockBackend.redisson(() -> unique(client)));
	}

	@Bean
	RedissonLockServerCheck redissonLockServerCheck(ObjectProvider<RedissonClient> client, LockProperties properties) {
		return new RedissonLockServerCheck(() -> unique(client), properties);
	}

	private static RedissonClient unique(ObjectProvider<RedissonClient> client) {
		RedissonClient unique = client.getIfUnique();
		if (unique == null) {
			throw new LockConfigurationException("The lock backend 'redisson' found several RedissonClient beans.",
					"Mark the one for the locks as @Primary.");
		}
		return unique;
	}

}
