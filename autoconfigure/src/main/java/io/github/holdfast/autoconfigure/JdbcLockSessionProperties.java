package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.holdfast.support.LockConfigurationException;

/**
 * Configuration properties for locks in database sessions.
 *
 * @param mode How the database keeps locks.
 * @param maxSessions Number of connections that may hold locks or wait for them at the
 * same time, in mode 'session'. By default, three quarters of the connection pool.
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.jdbc")
public record JdbcLockSessionProperties(@DefaultValue("table") JdbcLockMode mode, @Nullable Integer maxSessions) {

	/** For pools that do not tell their size. */
	private static final int DEFAULT_MAX_SESSIONS = 5;

	/**
	 * How many connections of a pool may hold locks.
	 * @param poolSize the size of the pool, or {@code null} if it is not known
	 * @return the number
	 * @throws LockConfigurationException if the configured number cannot work
	 */
	int maxSessions(@Nullable Integer poolSize) {
		if (this.maxSessions == null) {
			return (poolSize != null) ? Math.max(1, poolSize - (poolSize + 3) / 4) : DEFAULT_MAX_SESSIONS;
		}
		if (this.maxSessions < 1 || (poolSize != null && this.maxSessions > poolSize)) {
			throw new LockConfigurationException("'holdfast.jdbc.max-sessions' is " + this.maxSessions
					+ ", but must be at least 1"
					+ ((poolSize != null) ? " and at most the size of the connection pool, " + poolSize : "") + ".",
					"Set it to less than the size of the pool, such as three quarters, or remove it.");
		}
		return this.maxSessions;
	}

}
