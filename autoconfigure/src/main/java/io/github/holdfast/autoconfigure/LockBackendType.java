package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.holdfast.LockBackend.Capability;

/**
 * The stores that can keep locks.
 *
 * @since 0.2.0
 */
public enum LockBackendType {

	/**
	 * The memory of this JVM, for one node only. Never chosen without being asked for.
	 */
	LOCAL("nothing else", Capability.FAIR),

	/** A table in the application's SQL database. H2 has no shared row locks. */
	JDBC("spring-jdbc on the class path and one DataSource bean", Capability.SHARED),

	/** Redis, in whatever set-up the application uses it. */
	REDIS("spring-data-redis and Lettuce on the class path, and one RedisConnectionFactory bean", Capability.SHARED,
			Capability.FAIR),

	/** Redis, through the application's Redisson client. */
	REDISSON("redisson on the class path and one RedissonClient bean", Capability.SHARED, Capability.FAIR),

	/** etcd, with a client of its own or that of the application. */
	ETCD("jetcd-core on the class path, and 'holdfast.etcd.endpoints' or one Client bean", Capability.SHARED,
			Capability.FAIR),

	/** ZooKeeper, through Curator. */
	ZOOKEEPER("curator-framework on the class path and 'holdfast.zookeeper.connect-string' "
			+ "or one CuratorFramework bean", Capability.SHARED, Capability.FAIR);

	private final String requirement;

	private final Set<Capability> capabilities;

	LockBackendType(String requirement, Capability... capabilities) {
		this.requirement = requirement;
		this.capabilities = Set.of(capabilities);
	}

	String requirement() {
		return this.requirement;
	}

	String propertyValue() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * What an annotation can ask for and this backend offers. Optimistic locks depend on
	 * the commit guard instead.
	 */
	Set<Capability> capabilities() {
		return this.capabilities;
	}

	/**
	 * What to do about a lock that asks for what the backend does not offer.
	 * @param asked what it asks for
	 * @return the action, as a sentence
	 */
	static String remedy(Set<Capability> asked) {
		if (asked.contains(Capability.OPTIMISTIC)) {
			return "Set 'holdfast.commit-guard' to 'fence': mode OPTIMISTIC compares versions in the fence rows of the "
					+ "business database, which every backend can have. For 'jdbc' this is the default.";
		}
		String offering = Arrays.stream(values())
			.filter((type) -> type.capabilities.containsAll(asked))
			.map((type) -> "'" + type.propertyValue() + "'" + type.limit(asked))
			.collect(Collectors.joining(", "));
		String removal = "remove 'mode' and 'fair' from the annotation.";
		return offering.isEmpty() ? "No backend offers " + asked + ": " + removal
				: "Set 'holdfast.backend' to one that offers " + asked + " (" + offering
						+ "), name a bean of such a store in 'holdfast.locks.<name>.backend', or " + removal;
	}

	private String limit(Set<Capability> asked) {
		if (this == REDIS) {
			return " without a quorum";
		}
		return (this == JDBC && asked.contains(Capability.SHARED)) ? " not on H2" : "";
	}

}
