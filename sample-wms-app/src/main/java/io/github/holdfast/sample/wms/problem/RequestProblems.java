package io.github.holdfast.sample.wms.problem;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.github.holdfast.sample.wms.request.RequestIdReusedException;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.HandlerMethodValidationException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Tells clients what is wrong with a request: for invalid content each field with its
 * reason, that its id was used for another one, and for everything else what Spring MVC
 * says.
 */
@RestControllerAdvice
class RequestProblems extends ResponseEntityExceptionHandler {

	@ExceptionHandler
	ProblemDetail reused(RequestIdReusedException ex) {
		return Problems.of(HttpStatus.CONFLICT, "request-id-reused", "Request id was used before",
				ex.getMessage() + "; nothing was changed, choose another id");
	}

	@Override
	protected @Nullable ResponseEntity<Object> handleMethodArgumentNotValid(MethodArgumentNotValidException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		Map<String, String> errors = new TreeMap<>();
		ex.getFieldErrors()
			.forEach(
					(error) -> errors.put(error.getField(), Objects.requireNonNullElse(error.getDefaultMessage(), "")));
		return handleExceptionInternal(ex, invalid(errors), headers, status, request);
	}

	@Override
	protected @Nullable ResponseEntity<Object> handleHandlerMethodValidationException(
			HandlerMethodValidationException ex, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		Map<String, String> errors = new TreeMap<>();
		ex.getParameterValidationResults()
			.forEach((result) -> errors.put(String.valueOf(result.getMethodParameter().getParameterName()),
					String.valueOf(result.getResolvableErrors().get(0).getDefaultMessage())));
		return handleExceptionInternal(ex, invalid(errors), headers, status, request);
	}

	private static ProblemDetail invalid(Map<String, String> errors) {
		ProblemDetail problem = Problems.of(HttpStatus.BAD_REQUEST, "invalid-request", "Invalid request",
				"Invalid: " + String.join(", ", errors.keySet()));
		problem.setProperty("errors", errors);
		return problem;
	}

}
