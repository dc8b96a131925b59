package io.github.holdfast.lab;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.MismatchedInputException;

import org.springframework.context.annotation.Profile;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Tells users of the lab what is wrong.
 */
@RestControllerAdvice(assignableTypes = LabController.class)
@Order(Ordered.HIGHEST_PRECEDENCE)
@Profile("lab")
class LabProblems {

	@ExceptionHandler
	ProblemDetail invalid(InvalidRunException ex) {
		return invalid(ex.getMessage(), ex.problems());
	}

	/**
	 * What is not even of the right type.
	 */
	@ExceptionHandler
	ProblemDetail unreadable(HttpMessageNotReadableException ex) {
		if (ex.getCause() instanceof MismatchedInputException cause && !cause.getPath().isEmpty()) {
			String field = String.valueOf(cause.getPath().get(0).getPropertyName());
			String message = Number.class.isAssignableFrom(cause.getTargetType()) ? "must be a whole number"
					: "cannot be understood";
			return invalid("Invalid: " + field, List.of(new RunRequest.FieldProblem(field, message)));
		}
		String reason = (ex.getCause() instanceof JacksonException cause) ? ": " + cause.getOriginalMessage() : "";
		return invalid("The request cannot be read" + reason, List.of());
	}

	private static ProblemDetail problem(HttpStatus status, String type, String title, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setType(URI.create("urn:problem:lab:" + type));
		problem.setTitle(title);
		return problem;
	}

	private static ProblemDetail invalid(String detail, List<RunRequest.FieldProblem> errors) {
		ProblemDetail problem = problem(HttpStatus.BAD_REQUEST, "invalid-request", "Invalid request", detail);
		problem.setProperty("errors", errors);
		return problem;
	}

	@ExceptionHandler
	ProblemDetail inProgress(RunInProgressException ex) {
		return problem(HttpStatus.CONFLICT, "run-in-progress", "Run in progress", ex.getMessage());
	}

	@ExceptionHandler
	ProblemDetail notRunning(NotRunningException ex) {
		return problem(HttpStatus.CONFLICT, "not-running", "Not running", ex.getMessage());
	}

	@ExceptionHandler
	ProblemDetail unknown(UnknownRunException ex) {
		return problem(HttpStatus.NOT_FOUND, "unknown-run", "Unknown run", ex.getMessage());
	}

}
