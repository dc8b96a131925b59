package io.github.holdfast.chaos;

import java.util.List;
import java.util.Locale;

/**
 * How much of Holdfast protects the business data of a run. All but {@link #FENCE} are
 * controls: a machine that finds nothing there finds nothing anywhere.
 */
enum Level {

	/** No locks at all. */
	NONE("holdfast.enabled=false"),

	/** The lease is looked at before COMMIT. */
	LEASE("holdfast.commit-guard=lease"),

	/** The store is asked before COMMIT. */
	VERIFY("holdfast.commit-guard=verify"),

	/** The fence with its comparisons taken out, see {@link UncheckedFence}. */
	UNCHECKED("holdfast.commit-guard=fence"),

	/** The database decides. */
	FENCE("holdfast.commit-guard=fence");

	private final String property;

	Level(String property) {
		this.property = property;
	}

	/**
	 * The properties of a node.
	 */
	List<String> properties() {
		return List.of(this.property);
	}

	/**
	 * Whether optimistic locks can be had, which need the rows of the fence.
	 */
	boolean hasVersions() {
		return this == FENCE || this == UNCHECKED;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
