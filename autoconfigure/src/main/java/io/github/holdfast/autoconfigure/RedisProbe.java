package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.StringUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.LockConfigurationException;

/**
 * Tries out at the start whether Redis can keep locks.
 *
 * @param type the backend
 * @param settings where its Redis is configured, for a sentence
 * @param waitTime how long its client may take to say what is wrong
 */
record RedisProbe(LockBackendType type, String settings, Duration waitTime) implements LockProbe.Diagnosis {

	private static final Logger logger = LoggerFactory.getLogger(RedisProbe.class);

	/**
	 * Take and release a lock, which needs all that the locks of the application need,
	 * and leaves them alone.
	 * @throws LockConfigurationException if that is not possible
	 */
	void takeLock(LockBackend backend, LockProperties properties) {
		new LockProbe(backend, this.waitTime, properties, this).takeLock();
	}

	@Override
	public LockConfigurationException of(Exception cause) {
		String reason = reason(cause);
		String found = "The Redis of the lock backend '" + this.type.propertyValue() + "' ";
		if (reason.contains("READONLY")) {
			return new LockConfigurationException(found + "is a replica, which takes no locks: " + reason + ".",
					"Let " + this.settings + " name the master, or Sentinels that know it.", cause);
		}
		if (reason.contains("NOPERM")) {
			return new LockConfigurationException(found + "refused its user: " + reason + ".",
					"Give the user the commands, keys and channels that docs/redis.md lists.", cause);
		}
		if (reason.contains("'maxmemory'")) {
			return new LockConfigurationException(found + "has no memory left: " + reason + ".",
					"Raise 'maxmemory' of Redis, or remove keys.", cause);
		}
		return new LockConfigurationException(found + "could not be used: " + reason + ".",
				"Check " + this.settings + ", the credentials, and that Redis 6.2 or later is running.", cause);
	}

	/**
	 * Redisson adds the command with all its keys.
	 */
	private static String reason(Throwable failure) {
		return StringUtils.trimTrailingCharacter(LockProbe.reason(failure).split("\\. channel: ", 2)[0], '.');
	}

	/**
	 * Warn when Redis may evict locks that are held.
	 * @param policies asks for the policies of all servers
	 */
	void checkEviction(Supplier<Stream<String>> policies) {
		try {
			policies.get()
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
