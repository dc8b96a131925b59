package io.github.holdfast.sample.wms;

import java.util.Objects;
import java.util.stream.Collectors;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockNotAcquiredException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.support.DefaultMessageSourceResolvable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.resilience.InvocationRejectedException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.validation.FieldError;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Answers requests that a client may send again with {@code Retry-After}, and names the
 * fields of invalid ones.
 */
@RestControllerAdvice
class ProblemHandler extends ResponseEntityExceptionHandler {

	private static final Logger logger = LoggerFactory.getLogger(ProblemHandler.class);

	@ExceptionHandler({ LockNotAcquiredException.class, InvocationRejectedException.class })
	ResponseEntity<ProblemDetail> busy() {
		return retryLater(HttpStatus.SERVICE_UNAVAILABLE, "busy", "Other requests are changing the same data.");
	}

	/** A lost lock, a deadlock, or a request that was faster. */
	@ExceptionHandler({ ConcurrencyFailureException.class, DuplicateKeyException.class })
	ResponseEntity<ProblemDetail> rolledBack(Exception ex) {
		logger.warn("Rolled back: {}", ex.getMessage());
		return retryLater(HttpStatus.CONFLICT, "conflict", "Another request came first. Nothing was changed.");
	}

	/** One log line for each of many requests; the stack trace is the same each time. */
	@ExceptionHandler({ LockBackendException.class, DataAccessResourceFailureException.class,
			CannotCreateTransactionException.class })
	ResponseEntity<ProblemDetail> unavailable(Exception ex) {
		logger.warn("Request failed: {}: {}", ex.getMessage(), NestedExceptionUtils.getMostSpecificCause(ex));
		return retryLater(HttpStatus.SERVICE_UNAVAILABLE, "unavailable", "The service cannot reach its data.");
	}

	private static ResponseEntity<ProblemDetail> retryLater(HttpStatus status, String type, String detail) {
		return ResponseEntity.status(status)
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(new ProblemException(status, type, detail).getBody());
	}

	@Override
	protected ResponseEntity<Object> handleMethodArgumentNotValid(MethodArgumentNotValidException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		ProblemDetail problem = ex.getBody();
		problem.setProperty("errors", ex.getFieldErrors()
			.stream()
			.collect(Collectors.toMap(FieldError::getField, ProblemHandler::message, (first, second) -> first)));
		return handleExceptionInternal(ex, problem, headers, status, request);
	}

	private static String message(DefaultMessageSourceResolvable error) {
		return Objects.requireNonNullElse(error.getDefaultMessage(), "");
	}

}
