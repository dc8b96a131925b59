package io.github.holdfast.store;

import java.time.Duration;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;

/** Requests for locks, each with its own owner. */
public final class Requests {

	/** Long enough never to end in a test that passes. */
	public static final Duration LONG = Duration.ofSeconds(60);

	public static final Duration NO_WAIT = Duration.ZERO;

	private Requests() {
	}

	public static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LONG);
	}

	public static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return request(key, LockMode.EXCLUSIVE, false, waitTime, leaseTime);
	}

	public static LockRequest fair(String key, Duration waitTime) {
		return request(key, LockMode.EXCLUSIVE, true, waitTime, LONG);
	}

	public static LockRequest shared(String key, Duration waitTime) {
		return request(key, LockMode.SHARED, false, waitTime, LONG);
	}

	private static LockRequest request(String key, LockMode mode, boolean fair, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "test", mode, fair, waitTime, leaseTime, new Owner("test"));
	}

}
