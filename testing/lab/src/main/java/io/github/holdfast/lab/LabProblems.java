package io.github.holdfast.lab;

import java.util.List;

import tools.jackson.core.JacksonException;

import org.springframework.context.annotation.Profile;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells users of the lab why their request cannot be read.
 */
@RestControllerAdvice(assignableTypes = LabController.class)
@Order(Ordered.HIGHEST_PRECEDENCE)
@Profile("lab")
class LabProblems {

	@ExceptionHandler
	ProblemDetail unreadable(HttpMessageNotReadableException ex) {
		String reason = (ex.getCause() instanceof JacksonException cause) ? ": " + cause.getOriginalMessage() : "";
		return LabException.invalid("The request cannot be read" + reason, List.of()).getBody();
	}

}
