package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.UUID;

import io.github.holdfast.LockRequest;

/**
 * Requests for locks, each with an owner of its own.
 */
final class ZooKeeperRequests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private ZooKeeperRequests() {
	}

	static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LockRequest.Mode.EXCLUSIVE);
	}

	static LockRequest shared(String key, Duration waitTime) {
		return request(key, waitTime, LockRequest.Mode.SHARED);
	}

	private static LockRequest request(String key, Duration waitTime, LockRequest.Mode mode) {
		return new LockRequest(key, "test", mode, true, waitTime, LEASE_TIME, UUID.randomUUID().toString(), "test", 0);
	}

}
