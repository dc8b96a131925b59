package io.github.holdfast.chaos;

import jakarta.persistence.PersistenceException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockLostAfterWorkException;

/**
 * How a call has ended, as its caller sees it. Each call ends in exactly one way.
 */
enum Ending {

	/** It returned. */
	RESULT(Touch.Fate.COMMITTED),

	/** It was not given the lock. */
	NOT_ACQUIRED(Touch.Fate.ROLLED_BACK),

	/** Its lock was lost, and it was rolled back. */
	LOST(Touch.Fate.ROLLED_BACK),

	/** Its lock was lost, and others may have worked at the same time. */
	OVERLAP(Touch.Fate.UNKNOWN),

	/** The store of the locks failed. */
	BACKEND_ERROR(Touch.Fate.ROLLED_BACK),

	/** The COMMIT failed in a way that tells nothing. */
	OUTCOME_UNKNOWN(Touch.Fate.UNKNOWN),

	/** A statement or the begin of a transaction failed in the method itself. */
	DATABASE_ERROR(Touch.Fate.ROLLED_BACK),

	/** The method threw an exception of its own. */
	OWN_EXCEPTION(Touch.Fate.ROLLED_BACK),

	/** Something that nobody expects. */
	UNEXPECTED(Touch.Fate.UNKNOWN);

	private final Touch.Fate fate;

	Ending(Touch.Fate fate) {
		this.fate = fate;
	}

	/**
	 * What became of a transaction that ended so.
	 */
	Touch.Fate fate() {
		return this.fate;
	}

	/**
	 * Classifies what a call, or a transaction of it, has thrown.
	 * @param failure what was thrown, or {@code null} if it returned
	 * @param finished whether the code inside of the transaction had come to its end
	 */
	static Ending of(@Nullable Throwable failure, boolean finished) {
		if (failure == null) {
			return RESULT;
		}
		if (failure instanceof LockNotAcquiredException) {
			return NOT_ACQUIRED;
		}
		if (failure instanceof LockLostException) {
			return LOST;
		}
		if (failure instanceof LockLostAfterWorkException) {
			return OVERLAP;
		}
		if (failure instanceof LockBackendException) {
			return BACKEND_ERROR;
		}
		if (failure instanceof OrderRefusedException) {
			return OWN_EXCEPTION;
		}
		if (failure instanceof DataAccessException || failure instanceof TransactionException
				|| failure instanceof PersistenceException) {
			return finished ? OUTCOME_UNKNOWN : DATABASE_ERROR;
		}
		return UNEXPECTED;
	}

}
