package io.github.holdfast.redisson;

import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract with fair requests.
 */
@Tag("long")
class FairRedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	@Override
	RedissonClient connect() {
		return RedissonClients.single(RedisServer.shared().port());
	}

	@Override
	LockBackend backend(RedissonClient client) {
		return new FairRequests(super.backend(client));
	}

	/**
	 * Makes each request a fair one.
	 */
	private record FairRequests(LockBackend backend) implements LockBackend {

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			return this.backend.acquire(new LockRequest(request.key(), request.name(), request.mode(), true,
					request.waitTime(), request.leaseTime(), request.owner(), request.holder(), request.minEpoch()));
		}

		@Override
		public Set<Capability> capabilities() {
			return this.backend.capabilities();
		}

	}

}
