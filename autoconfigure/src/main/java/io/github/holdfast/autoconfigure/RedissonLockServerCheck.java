package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.github.holdfast.redis.RedisLockBackend;

/**
 * Fails the start when no lock can be taken through Redisson, and warns when Redis may
 * evict locks that are held.
 */
class RedissonLockServerCheck implements SmartInitializingSingleton {

	private static final String POLICY = "maxmemory_policy:";

	/** By default, Redisson asks a replica for ten seconds whether it is a master now. */
	private static final Duration PATIENCE = Duration.ofSeconds(15);

	private final Supplier<RedissonClient> client;

	private final LockProperties properties;

	RedissonLockServerCheck(Supplier<RedissonClient> client, LockProperties properties) {
		this.client = client;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		RedisProbe probe = new RedisProbe(LockBackendType.REDISSON, "the configuration of the RedissonClient",
				PATIENCE);
		probe.takeLock(RedisLockBackend.redisson(this.client), this.properties);
		probe.checkEviction(this::policies);
	}

	/**
	 * A script is sent to all masters, whatever the client is configured for.
	 */
	private Stream<String> policies() {
		String info = this.client.get()
			.getScript(StringCodec.INSTANCE)
			.eval(RScript.Mode.READ_WRITE, "return redis.call('info', 'memory')", RScript.ReturnType.STRING,
					(results) -> String.join("\n", results));
		return info.lines()
			.filter((line) -> line.startsWith(POLICY))
			.map((line) -> line.substring(POLICY.length()).strip());
	}

}
