package io.github.holdfast.lab.strategy;

/**
 * Thrown when others were quicker, for as long as an order waits.
 */
public class BusyException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param message who was quicker
	 */
	public BusyException(String message) {
		super(message);
	}

}
