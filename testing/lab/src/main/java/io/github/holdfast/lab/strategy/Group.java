package io.github.holdfast.lab.strategy;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What strategies have in common.
 */
public enum Group {

	/** Wrong on purpose, on one node already. */
	WRONG("wrong"),

	/** Right as long as there is one node. */
	ONE_NODE("one-node"),

	/** Right, by the database. */
	DATABASE("database"),

	/** Right until a pause outlasts the lease. */
	UNTIL_PAUSE("until-pause"),

	/** Holdfast, at each level and off. */
	HOLDFAST("holdfast");

	private final String id;

	Group(String id) {
		this.id = id;
	}

	@JsonValue
	public String id() {
		return this.id;
	}

}
