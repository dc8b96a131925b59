package io.github.holdfast;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Thrown when the lock store is unreachable or failed. Nothing is known about other
 * holders then; a busy lock is reported as {@link LockNotAcquiredException}.
 *
 * @since 0.1.0
 */
public class LockBackendException extends DataAccessResourceFailureException implements LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	/**
	 * Create a new exception.
	 * @param key the key
	 * @param detail what failed, as the end of the sentence
	 * @param cause the cause, if any
	 */
	public LockBackendException(String key, String detail, @Nullable Throwable cause) {
		super("Lock " + LockException.quote(key) + ": " + detail, cause);
		this.key = key;
	}

	/**
	 * The key as the store knows it, prefix included.
	 * @return the stored id
	 */
	@Override
	public String key() {
		return this.key;
	}

}
