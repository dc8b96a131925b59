package io.github.holdfast.chaos;

import java.util.List;
import java.util.Set;

import io.github.holdfast.chaos.Fault.Kind;

/** Where locks are: in the database, as transactions or leases only, or in Redis. */
enum Backend {

	JDBC("jdbc", Kind.FORGET, Kind.CLOCK_JUMP),

	JDBC_LEASE("jdbc", Kind.FORGET, Kind.CLOCK_JUMP),

	REDIS("redis", Kind.FORGET, Kind.SCRIPT_FLUSH, Kind.SUBSCRIPTIONS_KILLED, Kind.CLIENT_PAUSE, Kind.RESTART,
			Kind.RESTART_EMPTY, Kind.PROMOTION);

	private final String property;

	private final Set<Kind> storeFaults;

	Backend(String property, Kind... storeFaults) {
		this.property = property;
		this.storeFaults = Set.of(storeFaults);
	}

	List<String> properties() {
		return List.of("holdfast.backend=" + this.property,
				"holdfast.jdbc.mode=" + ((this == JDBC_LEASE) ? "lease" : "transaction"));
	}

	boolean suffers(Kind fault, Fault.Place place) {
		return switch (place) {
			case STORE -> this.storeFaults.contains(fault);
			case STORE_NETWORK -> this == REDIS;
			default -> true;
		};
	}

}
