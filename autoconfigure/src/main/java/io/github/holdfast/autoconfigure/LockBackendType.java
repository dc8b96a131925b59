package io.github.holdfast.autoconfigure;

import java.util.Locale;

/**
 * A store that can keep locks.
 */
public enum LockBackendType {

	/** The memory of this JVM, for a single node. Only used if configured. */
	LOCAL("nothing"),

	/** A table in the application's SQL database. */
	JDBC("spring-boot-starter-jdbc, or another starter with a DataSource, and one DataSource bean"),

	/** Redis through Lettuce, or a quorum of Redis masters. */
	REDIS("spring-boot-starter-data-redis with Lettuce and one RedisConnectionFactory bean"),

	/** Redis through the application's Redisson client. */
	REDISSON("redisson and one RedissonClient bean"),

	/** etcd through the application's jetcd client. */
	ETCD("jetcd-core and one Client bean"),

	/** ZooKeeper through the application's Curator client. */
	ZOOKEEPER("curator-framework and one started CuratorFramework bean");

	private final String requirement;

	LockBackendType(String requirement) {
		this.requirement = requirement;
	}

	String requirement() {
		return this.requirement;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
