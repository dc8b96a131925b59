package io.github.holdfast.chaos;

import java.util.List;
import java.util.stream.Stream;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import jakarta.persistence.PersistenceException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * How a call has ended, as its caller sees it, and what became of its transaction then.
 */
enum Ending {

	RESULT(Touch.Fate.COMMITTED),

	NOT_ACQUIRED(Touch.Fate.ROLLED_BACK, LockNotAcquiredException.class),

	LOST(Touch.Fate.ROLLED_BACK, LockLostException.class),

	/** Its lock was lost, and others may have worked at the same time. */
	OVERLAP(Touch.Fate.UNKNOWN, LockLostAfterWorkException.class),

	BACKEND_ERROR(Touch.Fate.ROLLED_BACK, LockBackendException.class),

	OWN_EXCEPTION(Touch.Fate.ROLLED_BACK, RefusedException.class),

	/** A statement or the begin of a transaction failed. */
	DATABASE_ERROR(Touch.Fate.ROLLED_BACK, DataAccessException.class, TransactionException.class,
			PersistenceException.class),

	/** The COMMIT failed in a way that tells nothing. */
	OUTCOME_UNKNOWN(Touch.Fate.UNKNOWN),

	/** A COMMIT before it got no answer, so the call may begin no other transaction. */
	REFUSED_AFTER_UNKNOWN(Touch.Fate.ROLLED_BACK),

	UNEXPECTED(Touch.Fate.UNKNOWN);

	final Touch.Fate fate;

	private final List<Class<?>> exceptions;

	Ending(Touch.Fate fate, Class<?>... exceptions) {
		this.fate = fate;
		this.exceptions = List.of(exceptions);
	}

	/** What a call or a transaction has thrown, if it has, before or after its code. */
	static Ending of(@Nullable Throwable failure, boolean finished) {
		if (failure instanceof IllegalStateException ex && String.valueOf(ex.getMessage()).contains("got no answer")) {
			return REFUSED_AFTER_UNKNOWN;
		}
		Ending ending = Stream.of(values())
			.filter((it) -> it.exceptions.stream().anyMatch((type) -> type.isInstance(failure)))
			.findFirst()
			.orElse((failure != null) ? UNEXPECTED : RESULT);
		return (ending == DATABASE_ERROR && finished) ? OUTCOME_UNKNOWN : ending;
	}

	@SuppressWarnings("serial")
	static final class RefusedException extends RuntimeException {

		RefusedException(String message) {
			super(message);
		}

	}

}
