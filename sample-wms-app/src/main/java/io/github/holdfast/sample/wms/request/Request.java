package io.github.holdfast.sample.wms.request;

/**
 * What a client may ask for again if it got no answer.
 */
public interface Request {

	/**
	 * Chosen by the client, the same each time it asks for this.
	 * @return the id
	 */
	String requestId();

	/**
	 * The key of the lock under which the request is answered.
	 * @return the key
	 */
	default String lockKey() {
		return "request:" + requestId();
	}

}
