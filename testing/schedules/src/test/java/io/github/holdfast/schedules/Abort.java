package io.github.holdfast.schedules;

/**
 * Ends a thread of a run that is over.
 */
final class Abort extends Error {

	private static final long serialVersionUID = 1L;

	Abort() {
		super("The run is over", null, false, false);
	}

}
