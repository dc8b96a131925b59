package io.github.holdfast.autoconfigure;

import java.util.Locale;

/**
 * The stores that can keep locks.
 *
 * @since 0.1.0
 */
public enum LockBackendType {

	/**
	 * The memory of this JVM, for one node only. Never chosen without being asked for.
	 */
	LOCAL("nothing else"),

	/** A table in the application's SQL database. */
	JDBC("spring-jdbc on the class path and one DataSource bean"),

	/** Redis, in whatever set-up the application uses it. */
	REDIS("spring-data-redis on the class path and one RedisConnectionFactory bean"),

	/** Redis, through the application's Redisson client. */
	REDISSON("redisson on the class path and one RedissonClient bean"),

	/** etcd, with a client of its own or that of the application. */
	ETCD("jetcd-core on the class path, and 'holdfast.etcd.endpoints' or one Client bean"),

	/** ZooKeeper, through Curator. */
	ZOOKEEPER("curator-framework on the class path and 'holdfast.zookeeper.connect-string' "
			+ "or one CuratorFramework bean");

	private final String requirement;

	LockBackendType(String requirement) {
		this.requirement = requirement;
	}

	String requirement() {
		return this.requirement;
	}

	String propertyValue() {
		return name().toLowerCase(Locale.ROOT);
	}

}
