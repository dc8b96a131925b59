package io.github.holdfast.core;

/**
 * The transaction that a body consists of, and whether it is <b>alone</b>: without others
 * beside it, and without callbacks that may work in the database. Then it may
 * <b>claim</b> its locks: write their rows of the fence table itself, as its first
 * statement, so that no transaction has to do that before it. And it may release them by
 * its commit, so that no transaction has to do that after it.
 *
 * <p>
 * That is learnt from the calls. Both last as long as the transaction, and protect
 * nothing that goes on inside or after it in transactions of its own. So it counts as
 * alone when it has been seen to be, and never again when the body has been seen to have
 * more. Safe for use by many threads.
 */
public final class BodyTransaction {

	private final String name;

	private volatile boolean claimable;

	private volatile Alone alone;

	private BodyTransaction(String name, boolean claimable, Alone alone) {
		this.name = name;
		this.claimable = claimable;
		this.alone = alone;
	}

	/**
	 * A transaction of which nothing is learnt, so that it never claims or releases.
	 * @param name its name
	 * @return the transaction
	 */
	public static BodyTransaction of(String name) {
		return new BodyTransaction(name, false, Alone.NO);
	}

	/**
	 * A transaction that claims or releases when its calls have shown that it can.
	 * {@link #begun()} has to be called first of all inside of it, and the body may be
	 * called twice. Nothing but the transaction may be inside of the locks.
	 * @param name its name
	 * @return the transaction
	 */
	public static BodyTransaction claiming(String name) {
		return new BodyTransaction(name, true, Alone.UNKNOWN);
	}

	/**
	 * Lets the innermost call of this thread claim its locks, if its body's transaction
	 * is to do that. To be called when that has begun, before anything is done in it.
	 * @throws ClaimRefusedException if it cannot; the transaction is to be rolled back
	 */
	public static void begun() {
		HeldLock innermost = LockStack.current();
		if (innermost != null) {
			innermost.claim();
		}
	}

	String name() {
		return this.name;
	}

	/**
	 * Whether the next call will claim.
	 */
	boolean claims() {
		return this.claimable && isAlone();
	}

	/**
	 * Whether a call may claim, the next one or a later one.
	 * @return {@code false} for good if it is known that none will
	 */
	public boolean mayClaim() {
		return this.claimable && this.alone != Alone.NO;
	}

	/**
	 * Whether the calls so far have done nothing but this transaction.
	 */
	boolean isAlone() {
		return this.alone == Alone.YES;
	}

	/**
	 * Note that a body had committed this transaction and no other work in the database.
	 */
	synchronized void wasAlone() {
		if (this.alone == Alone.UNKNOWN) {
			this.alone = Alone.YES;
		}
	}

	/**
	 * Note that this transaction is not all that the body does.
	 */
	synchronized void notAlone() {
		this.alone = Alone.NO;
	}

	/**
	 * Note that this transaction cannot claim, or that there is nothing to claim.
	 */
	void neverClaims() {
		this.claimable = false;
	}

	private enum Alone {

		UNKNOWN, YES, NO

	}

}
