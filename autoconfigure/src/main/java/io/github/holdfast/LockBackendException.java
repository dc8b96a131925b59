package io.github.holdfast;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Thrown when the lock store is unreachable or failed. It is unknown then who holds the
 * lock; a busy lock is reported as {@link LockNotAcquiredException}.
 */
public class LockBackendException extends DataAccessResourceFailureException implements LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	private final String detail;

	/**
	 * Create a new exception.
	 * @param key the key
	 * @param detail what failed; ends the sentence of the message
	 * @param cause the cause, if any
	 */
	public LockBackendException(String key, String detail, @Nullable Throwable cause) {
		super("Lock " + LockException.quote(key) + ": " + detail, cause);
		this.key = key;
		this.detail = detail;
	}

	/**
	 * Returns the same failure for another key. Backends see keys with their prefix,
	 * callers without it.
	 * @param key the key as the caller gave it
	 * @return this failure, with its cause, its stack trace and what was suppressed
	 */
	public LockBackendException withKey(String key) {
		if (key.equals(this.key)) {
			return this;
		}
		LockBackendException failure = new LockBackendException(key, this.detail, getCause());
		failure.setStackTrace(getStackTrace());
		for (Throwable suppressed : getSuppressed()) {
			failure.addSuppressed(suppressed);
		}
		return failure;
	}

	@Override
	public String key() {
		return this.key;
	}

}
