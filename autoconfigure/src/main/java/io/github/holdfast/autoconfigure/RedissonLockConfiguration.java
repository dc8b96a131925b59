package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.stream.Stream;

import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.redis.RedisLockBackend;

/**
 * Locks in Redis through the application's Redisson client.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedissonClient.class)
@ConditionalOnBean(RedissonClient.class)
@Conditional(LockBackendCondition.class)
class RedissonLockConfiguration {

	private static final String POLICY = "maxmemory_policy:";

	/** By default, Redisson asks a replica for ten seconds whether it is a master now. */
	private static final Duration PATIENCE = Duration.ofSeconds(15);

	@Bean
	LockBackendCandidate redissonLockBackend(ObjectProvider<RedissonClient> client) {
		return new LockBackendCandidate(LockBackendType.REDISSON,
				() -> RedisLockBackend.redisson(() -> unique(client)));
	}

	@Bean
	RedisLockServerCheck redissonLockServerCheck(ObjectProvider<RedissonClient> client, LockProperties properties) {
		return new RedisLockServerCheck(
				new RedisProbe(LockBackendType.REDISSON, "the configuration of the RedissonClient", PATIENCE),
				RedisLockBackend.redisson(() -> unique(client)), () -> policies(unique(client)), properties);
	}

	/**
	 * A script is sent to all masters, whatever the client is configured for.
	 */
	private static Stream<String> policies(RedissonClient client) {
		String info = client.getScript(StringCodec.INSTANCE)
			.eval(RScript.Mode.READ_WRITE, "return redis.call('info', 'memory')", RScript.ReturnType.STRING,
					(results) -> String.join("\n", results));
		return info.lines()
			.filter((line) -> line.startsWith(POLICY))
			.map((line) -> line.substring(POLICY.length()).strip());
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
