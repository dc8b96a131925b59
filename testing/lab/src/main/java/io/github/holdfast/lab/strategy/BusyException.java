package io.github.holdfast.lab.strategy;

/**
 * Thrown when others were quicker, for as long as an order waits.
 */
public class BusyException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public BusyException(String message) {
		super(message);
	}

}
