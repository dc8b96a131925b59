package io.github.holdfast.sample.wms.order;

import io.github.holdfast.sample.wms.problem.Problems;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients what is wrong with an order.
 */
@RestControllerAdvice
class OrderProblems {

	@ExceptionHandler
	ProblemDetail notFound(OrderNotFoundException ex) {
		ProblemDetail problem = Problems.of(HttpStatus.NOT_FOUND, "unknown-order", "Unknown order", ex.getMessage());
		problem.setProperty("orderNo", ex.orderNo());
		return problem;
	}

	@ExceptionHandler
	ProblemDetail exists(OrderExistsException ex) {
		ProblemDetail problem = Problems.of(HttpStatus.CONFLICT, "order-exists", "Order number is taken",
				ex.getMessage());
		problem.setProperty("orderNo", ex.orderNo());
		return problem;
	}

}
