package io.github.holdfast;

/**
 * Thrown after a body without a guarded transaction when its lock turned out to be lost:
 * the work is done, but another holder may have worked at the same time. Not safe to try
 * again without a look at the data.
 *
 * @since 0.2.0
 */
public class LockOverlapException extends IllegalStateException implements LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	/**
	 * Create a new exception.
	 * @param key the key as the caller gave it
	 */
	public LockOverlapException(String key) {
		super("Lock " + LockException.quote(key) + " was lost while its body ran, outside of a guarded transaction: "
				+ "work of another holder may have overlapped. Likely causes: the process was paused for longer than "
				+ "the lease, or the lock was removed from the store");
		this.key = key;
	}

	/**
	 * Create a new exception.
	 * @param key the key as the caller gave it
	 * @param detail when it was lost and what that means, as the end of the sentence
	 * @param cause the cause
	 */
	public LockOverlapException(String key, String detail, Throwable cause) {
		super("Lock " + LockException.quote(key) + " was lost " + detail, cause);
		this.key = key;
	}

	@Override
	public String key() {
		return this.key;
	}

}
