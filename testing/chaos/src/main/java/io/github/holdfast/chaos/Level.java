package io.github.holdfast.chaos;

/**
 * What protects the business data of a run. All but {@link #FENCE} are controls: a
 * machine that finds nothing there finds nothing anywhere.
 */
enum Level {

	NONE("holdfast.enabled=false"), LEASE("holdfast.commit-guard=lease"), FENCE("holdfast.commit-guard=fence");

	final String property;

	Level(String property) {
		this.property = property;
	}

}
