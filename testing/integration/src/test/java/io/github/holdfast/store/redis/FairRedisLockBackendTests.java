package io.github.holdfast.store.redis;

import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.RedisServer;

/** The contract with fair requests. */
@Tag("long")
@Tag("night")
@ParameterizedClass
@EnumSource(RedisClientType.class)
class FairRedisLockBackendTests extends AbstractRedisLockBackendTests {

	@Override
	RedisNode connect(RedisClientType client) {
		return client.connect(RedisServer.shared().port());
	}

	@Override
	protected LockBackend backend() {
		return new FairRequests(super.backend());
	}

	@Override
	protected LockBackend secondBackend() {
		return new FairRequests(super.secondBackend());
	}

	/** Makes each request a fair one. */
	private record FairRequests(LockBackend backend) implements LockBackend {

		@Override
		public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
			return this.backend.acquire(new LockRequest(request.key(), request.name(), request.mode(), true,
					request.waitTime(), request.leaseTime(), request.owner()));
		}

		@Override
		public Set<Capability> capabilities() {
			return this.backend.capabilities();
		}

	}

}
