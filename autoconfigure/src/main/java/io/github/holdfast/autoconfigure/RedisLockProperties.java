package io.github.holdfast.autoconfigure;

import java.util.List;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration properties for locks in Redis.
 *
 * @param quorum independent masters instead of the Redis of 'spring.data.redis'
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.redis")
public record RedisLockProperties(@DefaultValue Quorum quorum) {

	/**
	 * Several independent masters, of which a majority must grant each lock.
	 *
	 * @param nodes Addresses of an odd number of independent Redis masters, at least
	 * three. If not set, the Redis of 'spring.data.redis' keeps the locks alone.
	 */
	public record Quorum(@DefaultValue List<String> nodes) {

		/**
		 * Without the nodes, whose addresses may contain passwords.
		 */
		@Override
		public String toString() {
			return "Quorum[nodes=" + this.nodes.size() + "]";
		}

	}

}
