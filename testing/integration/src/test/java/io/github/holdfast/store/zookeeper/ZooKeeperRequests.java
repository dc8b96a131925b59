package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.UUID;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;

/**
 * Requests for locks, each with its own owner.
 */
final class ZooKeeperRequests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private ZooKeeperRequests() {
	}

	static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LockMode.EXCLUSIVE);
	}

	static LockRequest shared(String key, Duration waitTime) {
		return request(key, waitTime, LockMode.SHARED);
	}

	private static LockRequest request(String key, Duration waitTime, LockMode mode) {
		return new LockRequest(key, "test", mode, true, waitTime, LEASE_TIME, UUID.randomUUID().toString(), "test");
	}

}
