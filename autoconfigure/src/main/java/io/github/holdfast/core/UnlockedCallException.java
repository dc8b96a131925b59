package io.github.holdfast.core;

/**
 * Thrown by a rule before anything is acquired, to let a call go on without its locks.
 * The caller does not see it.
 */
public final class UnlockedCallException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param refusal what the call would be refused with
	 */
	public UnlockedCallException(RuntimeException refusal) {
		super(refusal.getMessage(), refusal, false, false);
	}

}
