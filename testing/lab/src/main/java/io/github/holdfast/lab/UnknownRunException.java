package io.github.holdfast.lab;

/**
 * Thrown when there is no such run, or no longer.
 */
final class UnknownRunException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	UnknownRunException(String id) {
		super("There is no run " + id + "; only the last ones are kept");
	}

}
