package io.github.holdfast.lab;

/**
 * Thrown when a run is to start while another one is going on.
 */
final class RunInProgressException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	RunInProgressException() {
		super("Another run is going on; wait for its end, or cancel it");
	}

}
