package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.StringUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Tries out at the start whether Redis can keep locks.
 *
 * @param type the backend
 * @param settings where its Redis is configured, for a sentence
 * @param waitTime how long its client may take to say what is wrong
 */
record RedisProbe(LockBackendType type, String settings, Duration waitTime) {

	private static final Logger logger = LoggerFactory.getLogger(RedisProbe.class);

	/**
	 * Take and release a lock, which needs all that the locks of the application need,
	 * and leaves them alone.
	 * @throws LockConfigurationException if that is not possible
	 */
	void takeLock(LockBackend backend, LockProperties properties) {
		String key = properties.getKeyPrefix() + "holdfast:start";
		LockRequest request = new LockRequest(key, "start", LockRequest.Mode.EXCLUSIVE, false, this.waitTime,
				properties.getLeaseTime(), UUID.randomUUID().toString(), "the check at the start", 0);
		try {
			LockLease lease = backend.acquire(request);
			if (lease != null) {
				lease.release().toCompletableFuture().get();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | LockBackendException ex) {
			throw failure(reason(ex), ex);
		}
	}

	private LockConfigurationException failure(String reason, Exception cause) {
		String found = "The Redis of the lock backend '" + this.type.propertyValue() + "' ";
		if (reason.contains("READONLY")) {
			return new LockConfigurationException(found + "is a replica, which takes no locks: " + reason + ".",
					"Let " + this.settings + " name the master, or Sentinels that know it.", cause);
		}
		if (reason.contains("NOPERM")) {
			return new LockConfigurationException(found + "refused its user: " + reason + ".",
					"Give the user the commands, keys and channels that docs/" + this.type.propertyValue()
							+ ".md lists.",
					cause);
		}
		if (reason.contains("'maxmemory'")) {
			return new LockConfigurationException(found + "has no memory left: " + reason + ".",
					"Raise 'maxmemory' of Redis, or remove keys.", cause);
		}
		return new LockConfigurationException(found + "could not be used: " + reason + ".",
				"Check " + this.settings + ", the credentials, and that Redis 6.2 or later is running.", cause);
	}

	/**
	 * What Redis or the network says: clients wrap it, sockets do not name the server,
	 * and Redisson adds the command with all its keys.
	 */
	private static String reason(Throwable failure) {
		String reason = String.valueOf(failure.getMessage());
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			if (message != null && !reason.contains(message)) {
				reason = message;
			}
		}
		return StringUtils.trimTrailingCharacter(reason.split("\\. channel: ", 2)[0], '.');
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
