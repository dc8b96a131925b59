package io.github.holdfast.sample.wms.account;

import io.github.holdfast.sample.wms.problem.Problems;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells clients why no money was moved.
 */
@RestControllerAdvice
class AccountProblems {

	@ExceptionHandler
	ProblemDetail insufficientFunds(InsufficientFundsException ex) {
		return Problems.of(HttpStatus.CONFLICT, "insufficient-funds", "Insufficient funds", ex.getMessage());
	}

	@ExceptionHandler
	ProblemDetail notFound(AccountNotFoundException ex) {
		return Problems.of(HttpStatus.NOT_FOUND, "unknown-account", "Unknown account", ex.getMessage());
	}

}
