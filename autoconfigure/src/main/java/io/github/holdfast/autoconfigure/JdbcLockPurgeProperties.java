package io.github.holdfast.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.holdfast.support.LockConfigurationException;

/**
 * Configuration properties for the rows of locks that are no longer used.
 *
 * @param purgeAfter Time after its last use from which on the row of a lock may be
 * deleted. Zero means never.
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.jdbc")
public record JdbcLockPurgeProperties(@DefaultValue("7d") Duration purgeAfter) {

	private static final Duration MINIMUM = Duration.ofMinutes(1);

	/**
	 * Check that nobody can still be about to use a row that is purged.
	 * @param leaseTime the time for which locks are leased
	 */
	void validate(Duration leaseTime) {
		if (!this.purgeAfter.isZero()
				&& (this.purgeAfter.compareTo(MINIMUM) < 0 || this.purgeAfter.compareTo(leaseTime) < 0)) {
			throw new LockConfigurationException(
					"'holdfast.jdbc.purge-after' is " + this.purgeAfter
							+ ", which is less than a minute or than 'holdfast.lease-time' (" + leaseTime + ").",
					"Set it to a longer time, such as '7d', or to '0' to keep all lock rows.");
		}
	}

}
