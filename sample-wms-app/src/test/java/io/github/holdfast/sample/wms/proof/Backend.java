package io.github.holdfast.sample.wms.proof;

import java.util.List;
import java.util.Locale;

/**
 * Where the locks are kept.
 */
enum Backend {

	/** In a table of the business database. */
	JDBC(() -> new NoServer(List.of())),

	/** In Redis. */
	REDIS(() -> new TestRedis("redis")),

	/** In Redis, through Redisson. */
	REDISSON(() -> new TestRedis("redisson"));

	private final Starter starter;

	Backend(Starter starter) {
		this.starter = starter;
	}

	LockServer start() {
		return this.starter.start();
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

	@FunctionalInterface
	private interface Starter {

		LockServer start();

	}

	private record NoServer(List<String> arguments) implements LockServer {

		@Override
		public void close() {
		}

	}

}
