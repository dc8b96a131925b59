package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.Unreadiness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What becomes of requests that Redis refuses because it is not ready, when Redisson does
 * not ask again any more.
 */
@Timeout(180)
@Tag("F73")
class UnreadyRedissonTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final String key = "unready:" + UUID.randomUUID();

	@ParameterizedTest
	@EnumSource
	void lockIsGrantedWhenRedisIsReady(Unreadiness unreadiness) throws Exception {
		try (RedisServer server = unreadiness.start(); FaultProxy proxy = new FaultProxy(server.port())) {
			RedissonClient client = connect(proxy.port());
			try {
				RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
				release(backend.acquire(RedisRequests.request("connected", LONG)));
				unreadiness.begin(server);
				AtomicBoolean refused = new AtomicBoolean();
				proxy.beforeReply(() -> {
					if (refused.compareAndSet(false, true)) {
						unreadiness.end(server);
					}
				});
				release(backend.acquire(RedisRequests.request(this.key, LONG)));
				assertThat(refused).isTrue();
			}
			finally {
				RedissonClients.close(client);
			}
		}
	}

	@Test
	void singleAttemptFailsWhileRedisIsNotReady() throws Exception {
		try (RedisServer server = RedisServer.start()) {
			RedissonClient client = connect(server.port());
			try {
				RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
				Unreadiness.READONLY.begin(server);
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(RedisRequests.request(this.key, Duration.ZERO)))
					.havingRootCause()
					.withMessageContaining("READONLY");
			}
			finally {
				RedissonClients.close(client);
			}
		}
	}

	/**
	 * With one connection, and without attempts of Redisson's own.
	 */
	private static RedissonClient connect(int port) {
		return RedissonClients.create((config) -> config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setConnectionMinimumIdleSize(1)
			.setConnectionPoolSize(1)
			.setPingConnectionInterval(0)
			.setRetryAttempts(0));
	}

	private static void release(LockLease lease) {
		assertThat(lease).isNotNull();
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
	}

}
