package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.UUID;

import io.github.holdfast.LockRequest;

/**
 * Requests for locks, each with an owner of its own.
 */
final class RedissonRequests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private RedissonRequests() {
	}

	static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LEASE_TIME);
	}

	static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, false, waitTime, leaseTime,
				UUID.randomUUID().toString(), "test", 0);
	}

	static LockRequest fair(String key, Duration waitTime) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, true, waitTime, LEASE_TIME,
				UUID.randomUUID().toString(), "test", 0);
	}

}
