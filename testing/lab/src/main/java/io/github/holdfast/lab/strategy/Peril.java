package io.github.holdfast.lab.strategy;

/**
 * What may happen to a run, and not every strategy withstands.
 */
public enum Peril {

	/** A node stands still. */
	PAUSE,

	/** A node stands still when all is checked, and the commit is about to be sent. */
	PAUSE_AT_COMMIT,

	/** Redis forgets the locks. */
	FORGOTTEN_LOCKS

}
