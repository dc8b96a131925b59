package io.github.holdfast.autoconfigure;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers with problem details if a lock stood in the way. In all of these cases the last
 * transaction under the lock was rolled back, or none began. Handlers of the application
 * take precedence.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class LockProblems {

	private static final Logger logger = LoggerFactory.getLogger(LockProblems.class);

	@ExceptionHandler
	ResponseEntity<ProblemDetail> notAcquired(LockNotAcquiredException ex) {
		return (ex.reason() == Reason.BUSY || ex.reason() == Reason.CONFLICT)
				? answer(HttpStatus.CONFLICT, "The resource is locked by another request.") : unavailable(ex);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> lost(LockLostException ex) {
		return answer(HttpStatus.CONFLICT, "The lock was lost; the last transaction was rolled back.");
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> failed(LockBackendException ex) {
		return unavailable(ex);
	}

	private static ResponseEntity<ProblemDetail> unavailable(RuntimeException ex) {
		logger.warn("Request failed: {}", ex.getMessage());
		return answer(HttpStatus.SERVICE_UNAVAILABLE, "The resource cannot be locked at the moment.");
	}

	/**
	 * The answer contains neither keys nor holders.
	 */
	private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
		return ResponseEntity.status(status)
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(ProblemDetail.forStatusAndDetail(status, detail));
	}

}
