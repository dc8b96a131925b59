package io.github.holdfast.sample.wms.inventory;

import io.github.holdfast.sample.wms.problem.Problems;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients why stock was refused.
 */
@RestControllerAdvice
class InventoryProblems {

	@ExceptionHandler
	ProblemDetail insufficientStock(InsufficientStockException ex) {
		ProblemDetail problem = Problems.of(HttpStatus.CONFLICT, "insufficient-stock", "Insufficient stock",
				ex.getMessage() + "; nothing was deducted");
		problem.setProperty("shortages", ex.shortages());
		return problem;
	}

	@ExceptionHandler
	ProblemDetail notFound(StockNotFoundException ex) {
		return Problems.of(HttpStatus.NOT_FOUND, "unknown-stock", "Unknown stock", ex.getMessage());
	}

}
