package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;

import io.github.holdfast.LockRequest;

/**
 * Requests for locks, each with an owner of its own.
 */
final class RedisRequests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private RedisRequests() {
	}

	static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LEASE_TIME);
	}

	static LockRequest fair(String key, Duration waitTime) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, true, waitTime, LEASE_TIME,
				UUID.randomUUID().toString(), "test", 0);
	}

	static LockRequest shared(String key, Duration waitTime) {
		return new LockRequest(key, "test", LockRequest.Mode.SHARED, false, waitTime, LEASE_TIME,
				UUID.randomUUID().toString(), "test", 0);
	}

	static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, false, waitTime, leaseTime,
				UUID.randomUUID().toString(), "test", 0);
	}

}
