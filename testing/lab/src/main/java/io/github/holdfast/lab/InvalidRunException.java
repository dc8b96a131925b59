package io.github.holdfast.lab;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Thrown when a run or a fault cannot be as it was asked for.
 */
final class InvalidRunException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient List<RunRequest.FieldProblem> problems;

	InvalidRunException(List<RunRequest.FieldProblem> problems) {
		super("Invalid: " + problems.stream().map(RunRequest.FieldProblem::field).collect(Collectors.joining(", ")));
		this.problems = List.copyOf(problems);
	}

	List<RunRequest.FieldProblem> problems() {
		return this.problems;
	}

}
