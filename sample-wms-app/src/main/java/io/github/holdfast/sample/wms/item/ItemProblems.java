package io.github.holdfast.sample.wms.item;

import io.github.holdfast.sample.wms.problem.Problems;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients what is wrong with an item.
 */
@RestControllerAdvice
class ItemProblems {

	@ExceptionHandler
	ProblemDetail notFound(ItemNotFoundException ex) {
		return Problems.of(HttpStatus.NOT_FOUND, "unknown-item", "Unknown item", ex.getMessage());
	}

}
