package io.github.holdfast.lab;

import java.net.URI;
import java.util.List;
import java.util.stream.Collectors;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * Thrown when the lab refuses a request.
 */
final class LabException extends ErrorResponseException {

	private static final long serialVersionUID = 1L;

	private LabException(HttpStatus status, String type, String title, String detail) {
		super(status, problem(status, type, title, detail), null);
	}

	private static ProblemDetail problem(HttpStatus status, String type, String title, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setType(URI.create("urn:problem:lab:" + type));
		problem.setTitle(title);
		return problem;
	}

	static LabException invalid(List<RunRequest.FieldProblem> errors) {
		return invalid(
				errors.stream().map((error) -> error.field() + " " + error.message()).collect(Collectors.joining("; ")),
				errors);
	}

	static LabException invalid(String detail, List<RunRequest.FieldProblem> errors) {
		LabException invalid = new LabException(HttpStatus.BAD_REQUEST, "invalid-request", "Invalid request", detail);
		invalid.getBody().setProperty("errors", errors);
		return invalid;
	}

	static LabException runInProgress() {
		return new LabException(HttpStatus.CONFLICT, "run-in-progress", "Run in progress",
				"Another run is in progress. Wait for its end, or cancel it.");
	}

	static LabException unknownRun(String id) {
		return new LabException(HttpStatus.NOT_FOUND, "unknown-run", "Unknown run",
				"There is no run " + id + "; only the last ones are kept.");
	}

}
