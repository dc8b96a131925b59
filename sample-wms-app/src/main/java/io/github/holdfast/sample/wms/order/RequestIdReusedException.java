package io.github.holdfast.sample.wms.order;

/**
 * Thrown when a request id was used before, for another order.
 */
public class RequestIdReusedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param requestId the request id
	 */
	public RequestIdReusedException(String requestId) {
		super("Request '" + requestId + "' has ordered something else before");
	}

}
