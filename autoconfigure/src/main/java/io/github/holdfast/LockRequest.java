package io.github.holdfast;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.github.holdfast.core.LockOwner;

import org.springframework.util.Assert;

/**
 * One acquisition of one key.
 *
 * @param key the stored key: the prefix and the key of the caller
 * @param name the name of the lock, for logs
 * @param mode {@link LockMode#EXCLUSIVE} or {@link LockMode#SHARED}
 * @param fair whether the waiters of all nodes are served in the order of their arrival
 * @param waitTime how long to wait; zero means one attempt
 * @param leaseTime how long the lock lives without a renewal
 * @param owner who acquires it
 */
public record LockRequest(String key, String name, LockMode mode, boolean fair, Duration waitTime, Duration leaseTime,
		LockOwner owner) {

	public LockRequest {
		Assert.hasText(key, "Lock key must not be blank");
		Assert.hasText(name, "Lock name must not be blank");
		Assert.isTrue(!waitTime.isNegative(), "Wait time must not be negative");
		Assert.isTrue(!leaseTime.isNegative() && !leaseTime.isZero(), "Lease time must be positive");
		Assert.isTrue(key.equals(new String(key.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)),
				"Lock key contains half of a surrogate pair, which stores would merge with other keys");
	}

}
