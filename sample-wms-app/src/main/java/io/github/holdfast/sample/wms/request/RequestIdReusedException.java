package io.github.holdfast.sample.wms.request;

/**
 * Thrown when a request id was used before, for something else; nothing has been changed.
 */
public class RequestIdReusedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param requestId the request id
	 */
	public RequestIdReusedException(String requestId) {
		super("Request '" + requestId + "' has asked for something else before");
	}

}
