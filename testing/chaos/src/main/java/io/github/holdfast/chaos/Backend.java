package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.github.holdfast.chaos.Fault.Kind;

/**
 * Where the locks of a run are kept.
 */
enum Backend {

	/** In the database. Transactions take their locks themselves where they can. */
	JDBC("jdbc", EnumSet.of(Kind.FORGET, Kind.CLOCK_JUMP)),

	/** In the database, as leases only. */
	JDBC_LEASE("jdbc", EnumSet.of(Kind.FORGET, Kind.CLOCK_JUMP)),

	/** In Redis, through Lettuce. */
	REDIS("redis", EnumSet.of(Kind.FORGET, Kind.SCRIPT_FLUSH, Kind.SUBSCRIPTIONS_KILLED, Kind.CLIENT_PAUSE,
			Kind.RESTART, Kind.RESTART_EMPTY, Kind.PROMOTION));

	private final String property;

	private final Set<Kind> storeFaults;

	Backend(String property, Set<Kind> storeFaults) {
		this.property = property;
		this.storeFaults = storeFaults;
	}

	/**
	 * The properties of a node.
	 */
	List<String> properties() {
		return List.of("holdfast.backend=" + this.property,
				"holdfast.jdbc.mode=" + ((this == JDBC_LEASE) ? "lease" : "transaction"));
	}

	/**
	 * Whether a fault can happen to it.
	 */
	boolean suffers(Kind fault, Fault.Place place) {
		return switch (place) {
			case STORE -> this.storeFaults.contains(fault);
			case STORE_NETWORK -> this == REDIS;
			default -> true;
		};
	}

	@Override
	public String toString() {
		return Names.print(this);
	}

}
