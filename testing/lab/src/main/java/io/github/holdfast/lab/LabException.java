package io.github.holdfast.lab;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

final class LabException extends ErrorResponseException {

	private static final long serialVersionUID = 1L;

	private LabException(HttpStatus status, String title, String detail) {
		super(status, ProblemDetail.forStatusAndDetail(status, detail), null);
		setType(URI.create("urn:problem:lab:" + title.toLowerCase(Locale.ROOT).replace(' ', '-')));
		setTitle(title);
	}

	static LabException invalid(List<RunRequest.FieldProblem> errors) {
		return invalid(
				errors.stream().map((error) -> error.field() + " " + error.message()).collect(Collectors.joining("; ")),
				errors);
	}

	static LabException invalid(String detail, List<RunRequest.FieldProblem> errors) {
		LabException invalid = new LabException(HttpStatus.BAD_REQUEST, "Invalid request", detail);
		invalid.getBody().setProperty("errors", errors);
		return invalid;
	}

	static LabException runInProgress() {
		return new LabException(HttpStatus.CONFLICT, "Run in progress",
				"Another run is in progress. Wait for its end, or cancel it.");
	}

	static LabException unknownRun(String id) {
		return new LabException(HttpStatus.NOT_FOUND, "Unknown run",
				"There is no run " + id + "; only the last ones are kept.");
	}

}
