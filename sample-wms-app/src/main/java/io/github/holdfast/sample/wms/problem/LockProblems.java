package io.github.holdfast.sample.wms.problem;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients that a lock stood in the way. Nothing has been changed in any of these
 * cases, so all of them are worth another try.
 */
@RestControllerAdvice
class LockProblems {

	private static final Logger logger = LoggerFactory.getLogger(LockProblems.class);

	@ExceptionHandler
	ResponseEntity<ProblemDetail> busy(LockNotAcquiredException ex) {
		ProblemDetail problem = Problems.of(HttpStatus.LOCKED, "busy", "Busy",
				"Others are working on the same stock; nothing was changed, try again");
		problem.setProperty("reason", ex.reason());
		problem.setProperty("waitedAtMost", ex.waitTime().toString());
		return retryLater(problem, ex);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> lost(LockLostException ex) {
		logger.warn("Rolled back", ex);
		return retryLater(Problems.of(HttpStatus.CONFLICT, "lock-lost", "Lock was lost",
				"The lock was lost before the commit, so everything was rolled back; try again"), ex);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> storeFailed(LockBackendException ex) {
		logger.warn("Not served", ex);
		return retryLater(Problems.of(HttpStatus.SERVICE_UNAVAILABLE, "lock-store-down", "Lock store is down",
				"The lock store does not answer as it should; nothing was changed, try again later"), ex);
	}

	private ResponseEntity<ProblemDetail> retryLater(ProblemDetail problem, LockException ex) {
		problem.setProperty("key", ex.key());
		return ResponseEntity.status(problem.getStatus()).header(HttpHeaders.RETRY_AFTER, "1").body(problem);
	}

}
