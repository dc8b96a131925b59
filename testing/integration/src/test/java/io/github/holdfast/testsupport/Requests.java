package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.UUID;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;

/** Requests for locks, each with its own owner. */
public final class Requests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private Requests() {
	}

	public static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LEASE_TIME);
	}

	public static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return request(key, LockMode.EXCLUSIVE, waitTime, leaseTime);
	}

	public static LockRequest shared(String key, Duration waitTime) {
		return request(key, LockMode.SHARED, waitTime, LEASE_TIME);
	}

	private static LockRequest request(String key, LockMode mode, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "test", mode, false, waitTime, leaseTime, UUID.randomUUID().toString(), "test");
	}

}
