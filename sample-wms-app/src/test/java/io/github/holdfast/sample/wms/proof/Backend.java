package io.github.holdfast.sample.wms.proof;

import java.util.List;
import java.util.Locale;

/**
 * Where the locks are kept.
 */
enum Backend {

	JDBC, REDIS, REDISSON;

	/**
	 * What a node is told on the command line to keep its locks there.
	 */
	List<String> arguments(TestRedis redis) {
		return (this == JDBC) ? List.of()
				: List.of("--spring.profiles.active=" + this, "--spring.data.redis.port=" + redis.port());
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
