package io.github.holdfast.transaction;

/**
 * A commit that was sent together with the check of a lease was refused or has an unknown
 * outcome. The lease may have been held.
 */
final class CommitFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final RuntimeException managersOwn;

	/**
	 * Create an exception.
	 * @param cause the failure
	 * @param managersOwn what the transaction manager would throw
	 */
	CommitFailedException(Throwable cause, RuntimeException managersOwn) {
		super(cause);
		this.managersOwn = managersOwn;
	}

	RuntimeException managersOwn() {
		return this.managersOwn;
	}

}
