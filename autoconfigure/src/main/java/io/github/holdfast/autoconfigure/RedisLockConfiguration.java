package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Properties;
import java.util.stream.Stream;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.autoconfigure.condition.OnPropertyListCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.StringUtils;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.redis.RedisQuorumLockBackend;
import io.github.holdfast.store.redis.RedisQuorumNodes;

/**
 * Locks in the application's Redis.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBean(RedisConnectionFactory.class)
@Conditional(LockBackendCondition.class)
class RedisLockConfiguration {

	private static RedisConnectionFactory unique(ObjectProvider<RedisConnectionFactory> connectionFactory) {
		RedisConnectionFactory unique = connectionFactory.getIfUnique();
		if (unique == null) {
			throw new LockConfigurationException("The lock backend 'redis' found several RedisConnectionFactory beans.",
					"Mark the one for the locks as @Primary.");
		}
		return unique;
	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(OnQuorumCondition.class)
	@EnableConfigurationProperties(LockProperties.Redis.class)
	static class QuorumConfiguration {

		@Bean
		RedisQuorumNodes redisQuorumNodes(ObjectProvider<RedisConnectionFactory> connectionFactory,
				LockProperties.Redis properties) {
			return RedisQuorumNodes.of(unique(connectionFactory), properties.quorum().nodes());
		}

		@Bean
		LockBackendCandidate redisLockBackend(RedisQuorumNodes nodes) {
			return new LockBackendCandidate(LockBackendType.REDIS, () -> new RedisQuorumLockBackend(nodes));
		}

		@Bean
		RedisQuorumServerCheck redisQuorumServerCheck(RedisQuorumNodes nodes, LockProperties properties) {
			return new RedisQuorumServerCheck(nodes, properties);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(OnSingleCondition.class)
	static class SingleConfiguration {

		@Bean
		LockBackendCandidate redisLockBackend(ObjectProvider<RedisConnectionFactory> connectionFactory,
				Environment environment) {
			if (StringUtils.hasText(environment.getProperty("holdfast.redis.quorum.nodes"))
					|| environment.containsProperty("holdfast.redis.quorum.nodes[0]")) {
				throw new LockConfigurationException(
						"The application was processed ahead of time without 'holdfast.redis.quorum.nodes'.",
						"Build it with the value that it is started with.");
			}
			return new LockBackendCandidate(LockBackendType.REDIS,
					() -> new RedisLockBackend(() -> unique(connectionFactory)));
		}

		@Bean
		RedisLockServerCheck redisLockServerCheck(ObjectProvider<RedisConnectionFactory> connectionFactory,
				LockProperties properties) {
			return new RedisLockServerCheck(new RedisProbe(LockBackendType.REDIS, "'spring.data.redis'", Duration.ZERO),
					new RedisLockBackend(() -> unique(connectionFactory)), () -> policies(unique(connectionFactory)),
					properties);
		}

		private static Stream<String> policies(RedisConnectionFactory connectionFactory) {
			try (RedisConnection connection = connectionFactory.getConnection()) {
				Properties info = connection.serverCommands().info("memory");
				return info.stringPropertyNames()
					.stream()
					.filter((name) -> name.endsWith("maxmemory_policy"))
					.map(info::getProperty);
			}
		}

	}

	static class OnQuorumCondition extends OnPropertyListCondition {

		OnQuorumCondition() {
			super("holdfast.redis.quorum.nodes", () -> ConditionMessage.forCondition("Redis quorum"));
		}

	}

	static class OnSingleCondition extends NoneNestedConditions {

		OnSingleCondition() {
			super(ConfigurationPhase.PARSE_CONFIGURATION);
		}

		@Conditional(OnQuorumCondition.class)
		static class OnQuorum {

		}

	}

}
