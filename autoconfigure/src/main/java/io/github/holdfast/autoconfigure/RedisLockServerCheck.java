package io.github.holdfast.autoconfigure;

import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.holdfast.store.redis.RedisLockBackend;

/**
 * Fails the start when no lock can be taken in Redis, and warns when Redis may evict
 * locks that are held.
 */
final class RedisLockServerCheck implements StoreCheck {

	private final RedisProbe probe;

	private final RedisLockBackend backend;

	private final Supplier<Stream<String>> policies;

	private final LockProperties properties;

	/**
	 * Create a check.
	 * @param probe tries out the backend
	 * @param backend keeps its locks in Redis
	 * @param policies asks all servers for their maxmemory-policy
	 * @param properties the prefix and the lease time of the locks
	 */
	RedisLockServerCheck(RedisProbe probe, RedisLockBackend backend, Supplier<Stream<String>> policies,
			LockProperties properties) {
		this.probe = probe;
		this.backend = backend;
		this.policies = policies;
		this.properties = properties;
	}

	@Override
	public void check() {
		this.probe.takeLock(this.backend, this.properties);
		this.probe.checkEviction(this.policies);
	}

}
