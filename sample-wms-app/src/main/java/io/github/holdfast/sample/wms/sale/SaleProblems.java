package io.github.holdfast.sample.wms.sale;

import io.github.holdfast.sample.wms.problem.Problems;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells buyers why nothing was sold.
 */
@RestControllerAdvice
class SaleProblems {

	@ExceptionHandler
	ProblemDetail limitExceeded(LimitExceededException ex) {
		return Problems.of(HttpStatus.CONFLICT, "limit-exceeded", "Limit exceeded", ex.getMessage());
	}

}
