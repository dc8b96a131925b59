package io.github.holdfast;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Thrown if the lock was lost, when a transaction begins or just before its commit: the
 * transaction is rolled back. It is safe to try again, unless the same call has already
 * committed another transaction.
 */
public class LockLostException extends PessimisticLockingFailureException implements LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	/**
	 * Create a new exception.
	 * @param key the key as the caller gave it
	 * @param detail what was found; ends the sentence of the message
	 * @param cause the cause, if any
	 */
	public LockLostException(String key, String detail, @Nullable Throwable cause) {
		super("Lock " + LockException.quote(key)
				+ " was lost before the commit, so only this transaction is rolled back: " + detail, cause);
		this.key = key;
	}

	@Override
	public String key() {
		return this.key;
	}

}
