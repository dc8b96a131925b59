package io.github.holdfast.chaos;

/**
 * The exception that business methods of the fault machine throw by themselves.
 */
final class OrderRefusedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	OrderRefusedException(String message) {
		super(message);
	}

}
