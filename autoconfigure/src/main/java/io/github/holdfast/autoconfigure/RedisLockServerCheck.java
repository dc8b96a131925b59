package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.StringUtils;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.redis.RedisLockBackend;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Fails the start when no lock can be taken in Redis, and warns when Redis may evict
 * locks that are held.
 */
class RedisLockServerCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(RedisLockServerCheck.class);

	private static final String POLICY = "maxmemory_policy";

	private final Supplier<RedisConnectionFactory> connectionFactory;

	private final LockProperties properties;

	RedisLockServerCheck(Supplier<RedisConnectionFactory> connectionFactory, LockProperties properties) {
		this.connectionFactory = connectionFactory;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		try {
			takeLock();
		}
		catch (LockBackendException ex) {
			throw failure(reason(ex), ex);
		}
		checkEviction();
	}

	/**
	 * Needs all that the locks of the application need, and leaves them alone.
	 */
	private void takeLock() {
		String key = this.properties.getKeyPrefix() + "holdfast:start";
		LockRequest request = new LockRequest(key, "start", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO,
				this.properties.getLeaseTime(), UUID.randomUUID().toString(), "the check at the start", 0);
		try {
			LockLease lease = new RedisLockBackend(this.connectionFactory).acquire(request);
			if (lease != null) {
				lease.release().toCompletableFuture().get();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			throw new LockBackendException(key, "could not be released", ex);
		}
	}

	private static LockConfigurationException failure(String reason, Exception cause) {
		String found = "The Redis of the lock backend 'redis' ";
		if (reason.contains("READONLY")) {
			return new LockConfigurationException(found + "is a replica, which takes no locks: " + reason + ".",
					"Let 'spring.data.redis' name the master, or Sentinels that know it.", cause);
		}
		if (reason.contains("NOPERM")) {
			return new LockConfigurationException(found + "refused its user: " + reason + ".",
					"Give the user the commands, keys and channels that docs/redis.md lists.", cause);
		}
		if (reason.contains("OOM")) {
			return new LockConfigurationException(found + "has no memory left: " + reason + ".",
					"Raise 'maxmemory' of Redis, or remove keys.", cause);
		}
		return new LockConfigurationException(found + "could not be used: " + reason + ".",
				"Check 'spring.data.redis', the credentials, and that Redis 6.2 or later is running.", cause);
	}

	/**
	 * What Redis or the network says: clients wrap it, and sockets do not name the
	 * server.
	 */
	private static String reason(Throwable failure) {
		String reason = String.valueOf(failure.getMessage());
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			if (message != null && !reason.contains(message)) {
				reason = message;
			}
		}
		return StringUtils.trimTrailingCharacter(reason, '.');
	}

	private void checkEviction() {
		try (RedisConnection connection = this.connectionFactory.get().getConnection()) {
			Properties info = connection.serverCommands().info("memory");
			info.stringPropertyNames()
				.stream()
				.filter((name) -> name.endsWith(POLICY))
				.map(info::getProperty)
				.filter((policy) -> !policy.equals("noeviction"))
				.distinct()
				.forEach((policy) -> logger.warn("Redis has the maxmemory-policy '{}' and may evict locks that are "
						+ "held, so that others get them, too; set it to 'noeviction'", policy));
		}
		catch (RuntimeException ex) {
			logger.info("The maxmemory-policy of Redis is not checked: {}", reason(ex));
		}
	}

}
