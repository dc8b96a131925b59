package io.github.holdfast.chaos;

/**
 * What protects the business data of a run. All but {@link #FENCE} are controls: a
 * machine that finds nothing there finds nothing anywhere.
 */
enum Level {

	/** No locks at all. */
	NONE("holdfast.enabled=false"),

	/** The clock of the process is compared with the lease before COMMIT. */
	LEASE("holdfast.commit-guard=lease"),

	/** The rule. */
	FENCE("holdfast.commit-guard=fence");

	private final String property;

	Level(String property) {
		this.property = property;
	}

	String property() {
		return this.property;
	}

	@Override
	public String toString() {
		return Names.print(this);
	}

}
