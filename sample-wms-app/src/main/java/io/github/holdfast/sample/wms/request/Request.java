package io.github.holdfast.sample.wms.request;

/** A request that a client may send again if it got no answer. */
public interface Request {

	/** The id that the client has chosen, the same each time it sends this request. */
	String requestId();

	/** The key of the lock under which the request is carried out. */
	default String lockKey() {
		return "request:" + requestId();
	}

}
