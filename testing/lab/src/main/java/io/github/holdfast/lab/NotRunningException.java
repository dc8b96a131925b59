package io.github.holdfast.lab;

/**
 * Thrown when something is to be done to a run that sends no orders.
 */
final class NotRunningException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	NotRunningException() {
		super("The run sends no orders now, so nothing can be done to it");
	}

}
