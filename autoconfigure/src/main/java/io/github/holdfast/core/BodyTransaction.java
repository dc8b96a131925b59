package io.github.holdfast.core;

/**
 * The transaction that a body consists of, and whether it <b>claims</b> its locks: writes
 * their rows of the fence table itself, as its first statement, so that no transaction
 * has to do that before it.
 *
 * <p>
 * That is learnt from the calls. A claim lasts as long as its transaction, and protects
 * nothing that goes on inside or after it in transactions of its own. So a body claims
 * when it has been seen to have one transaction without callbacks that may work in the
 * database, and never again when it has been seen to have more. Safe for use by many
 * threads.
 */
public final class BodyTransaction {

	private final String name;

	private volatile Claiming claiming;

	private BodyTransaction(String name, Claiming claiming) {
		this.name = name;
		this.claiming = claiming;
	}

	/**
	 * A transaction that never claims.
	 * @param name its name
	 * @return the transaction
	 */
	public static BodyTransaction of(String name) {
		return new BodyTransaction(name, Claiming.NEVER);
	}

	/**
	 * A transaction that claims when its calls have shown that it can. {@link #begun()}
	 * has to be called first of all inside of it, and the body may be called twice.
	 * @param name its name
	 * @return the transaction
	 */
	public static BodyTransaction claiming(String name) {
		return new BodyTransaction(name, Claiming.UNTRIED);
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
		return this.claiming == Claiming.POSSIBLE;
	}

	/**
	 * Whether a call may claim, the next one or a later one.
	 * @return {@code false} for good if it is known that none will
	 */
	public boolean mayClaim() {
		return this.claiming != Claiming.NEVER;
	}

	/**
	 * Note that a body had committed this transaction and no other work in the database.
	 */
	synchronized void wasAlone() {
		if (this.claiming == Claiming.UNTRIED) {
			this.claiming = Claiming.POSSIBLE;
		}
	}

	/**
	 * Note that a claim of this transaction would not protect all that the body does, or
	 * that there is nothing to claim.
	 */
	synchronized void neverClaims() {
		this.claiming = Claiming.NEVER;
	}

	private enum Claiming {

		UNTRIED, POSSIBLE, NEVER

	}

}
