package io.github.holdfast.core;

/**
 * How long it lately took from a commit until its method was over: whether Spring waits
 * for the network while it resets the connection, or only for a processor. In the first
 * case the next holder can work meanwhile; in the second one it would take away that
 * processor.
 *
 * <p>
 * Safe for use by many threads. An update that gets lost does not matter.
 */
final class CleanUps {

	/** Several times what it takes if the database is on the same machine. */
	private static final long LONG_NANOS = 200_000;

	/** How many of the other kind it takes to change a firm opinion. */
	private static final int FIRM = 16;

	/** Rises with long ones and falls with short ones. */
	private volatile int balance;

	void took(long nanos) {
		int balance = this.balance;
		this.balance = (nanos > LONG_NANOS) ? Math.min(balance + 1, FIRM) : Math.max(balance - 1, -FIRM);
	}

	/**
	 * Whether most of them are long.
	 * @return {@code false} also if none is known yet
	 */
	boolean areLong() {
		return this.balance > 0;
	}

}
