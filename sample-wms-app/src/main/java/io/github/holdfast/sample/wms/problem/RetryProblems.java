package io.github.holdfast.sample.wms.problem;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients that a lock or the database stood in the way. Nothing has been changed in
 * any of these cases, so all of them are worth another try.
 */
@RestControllerAdvice
class RetryProblems {

	private static final Logger logger = LoggerFactory.getLogger(RetryProblems.class);

	/**
	 * The same for a full queue and for a wait that was too long: there is more to do
	 * than can be done.
	 */
	@ExceptionHandler
	ResponseEntity<ProblemDetail> busy(LockNotAcquiredException ex) {
		ProblemDetail problem = withKey(ex, Problems.of(HttpStatus.SERVICE_UNAVAILABLE, "busy", "Busy",
				"Others are working on the same data; nothing was changed, try again"));
		problem.setProperty("reason", ex.reason());
		problem.setProperty("waitedAtMost", ex.waitTime().toString());
		return retryLater(problem);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> lockLost(LockLostException ex) {
		logger.warn("Rolled back: {}", ex.getMessage());
		return retryLater(withKey(ex, Problems.of(HttpStatus.CONFLICT, "lock-lost", "Lock was lost",
				"The lock was lost before the commit, so everything was rolled back; try again")));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> lockStoreDown(LockBackendException ex) {
		notServed(ex);
		return retryLater(withKey(ex, Problems.of(HttpStatus.SERVICE_UNAVAILABLE, "lock-store-down",
				"Lock store is down", "The lock store does not answer as it should; nothing was changed, try again")));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> conflict(ConcurrencyFailureException ex) {
		logger.warn("Rolled back: {}", ex.getMessage());
		return retryLater(Problems.of(HttpStatus.CONFLICT, "conflict", "Conflict",
				"The database rolled everything back in favour of another request; try again"));
	}

	@ExceptionHandler({ DataAccessResourceFailureException.class, CannotCreateTransactionException.class })
	ResponseEntity<ProblemDetail> databaseDown(Exception ex) {
		notServed(ex);
		return retryLater(Problems.of(HttpStatus.SERVICE_UNAVAILABLE, "database-down", "Database is down",
				"The database does not answer; try again"));
	}

	/**
	 * One line for each of many requests; where it comes from is the same each time.
	 */
	private static void notServed(Exception ex) {
		logger.warn("Not served: {}, caused by {}", ex.getMessage(),
				NestedExceptionUtils.getMostSpecificCause(ex).toString());
		logger.debug("Not served", ex);
	}

	private static ProblemDetail withKey(LockException ex, ProblemDetail problem) {
		problem.setProperty("key", ex.key());
		return problem;
	}

	private static ResponseEntity<ProblemDetail> retryLater(ProblemDetail problem) {
		return ResponseEntity.status(problem.getStatus()).header(HttpHeaders.RETRY_AFTER, "1").body(problem);
	}

}
