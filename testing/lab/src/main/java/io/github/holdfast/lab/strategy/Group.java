package io.github.holdfast.lab.strategy;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What strategies have in common.
 */
public enum Group {

	/** Wrong on purpose, on one node already. */
	WRONG,

	/** Right as long as there is one node. */
	ONE_NODE,

	/** Right, by the database. */
	DATABASE,

	/** Right until a pause outlasts the lease. */
	UNTIL_PAUSE,

	/** Holdfast, at each level and off. */
	HOLDFAST;

	@JsonValue
	public String id() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
