package io.github.holdfast.autoconfigure;

import java.util.Locale;
import java.util.stream.Stream;

/**
 * A store that can keep locks.
 */
public enum LockBackendType {

	/** The memory of this JVM, for a single node. Used only if configured. */
	LOCAL("nothing", "'holdfast.backend'"),

	/** A table in the application's SQL database. */
	JDBC("spring-boot-starter-jdbc, or another starter with a DataSource bean", "'spring.datasource'"),

	/** Redis through Lettuce, or a quorum of Redis masters. */
	REDIS("spring-boot-starter-data-redis, with Lettuce and a RedisConnectionFactory bean", "'spring.data.redis'"),

	/** Redis through the application's Redisson client. */
	REDISSON("redisson and a RedissonClient bean", "the RedissonClient bean"),

	/** etcd through the application's jetcd client. */
	ETCD("jetcd-core and a Client bean", "the Client bean"),

	/** ZooKeeper through the application's Curator client. */
	ZOOKEEPER("curator-framework and a started CuratorFramework bean", "the CuratorFramework bean");

	private final String requirement;

	private final String settings;

	LockBackendType(String requirement, String settings) {
		this.requirement = requirement;
		this.settings = settings;
	}

	String requirement() {
		return this.requirement;
	}

	/**
	 * Where to look if a store cannot be used.
	 */
	static String settings(String backend) {
		return Stream.of(values())
			.filter((type) -> type.toString().equals(backend))
			.map((type) -> type.settings)
			.findFirst()
			.orElse("the LockBackend bean");
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
