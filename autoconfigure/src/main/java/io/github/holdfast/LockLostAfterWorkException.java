package io.github.holdfast;

/**
 * Thrown after a body that ran outside a guarded transaction and lost its lock. The work
 * is done, and the work of another holder might have overlapped. Check the data before
 * you try again. Also thrown if the connection broke during the release and the store
 * cannot tell who had the lock.
 */
public class LockLostAfterWorkException extends IllegalStateException implements LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	/**
	 * Create a new exception.
	 * @param key the key as the caller gave it
	 */
	public LockLostAfterWorkException(String key) {
		super("Lock " + LockException.quote(key) + " was lost while its body ran, outside a guarded transaction: "
				+ "the work of another holder might have overlapped. Likely causes: the process was paused for longer "
				+ "than the lease time, or the lock was removed from the store");
		this.key = key;
	}

	@Override
	public String key() {
		return this.key;
	}

}
