package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.Unreadiness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What becomes of requests that Redis refuses because it is not ready.
 */
@Timeout(180)
@Tag("F73")
class UnreadyRedisTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final String key = "unready:" + UUID.randomUUID();

	@ParameterizedTest
	@EnumSource
	void lettuceGetsTheLockWhenRedisIsReady(Unreadiness unreadiness) throws Exception {
		try (RedisServer server = unreadiness.start(); FaultProxy proxy = new FaultProxy(server.port())) {
			RedisConnectionFactory connections = RedisConnections.lettuce(proxy.port());
			try {
				RedisLockBackend backend = new RedisLockBackend(() -> connections);
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
				RedisConnections.close(connections);
			}
		}
	}

	@Test
	void severalKeysAreGrantedWhenRedisIsReady() throws Exception {
		try (RedisServer server = RedisServer.start()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(server.port());
			try {
				RedisLockBackend backend = new RedisLockBackend(() -> connections);
				Unreadiness.READONLY.begin(server);
				assertThat(backend.acquireAll(requests(LONG))).as("one by one, with time to wait").isNull();
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquireAll(requests(Duration.ZERO)))
					.havingRootCause()
					.withMessageContaining("READONLY");
				Unreadiness.READONLY.end(server);
				assertThat(backend.acquireAll(requests(Duration.ZERO))).hasSize(2);
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	private List<LockRequest> requests(Duration wait) {
		return List.of(RedisRequests.request(this.key, wait), RedisRequests.request(this.key + "2", wait));
	}

	/**
	 * As if the answer to the first attempt had been that Redis was not ready, when it
	 * was sent again: the holder counts its lease from the second one.
	 */
	@Test
	void leaseThatIsGrantedAgainLastsForItsWholeTime() throws Exception {
		try (RedisServer server = RedisServer.start()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(server.port());
			try {
				RedisLockBackend backend = new RedisLockBackend(() -> connections);
				StringRedisTemplate redis = new StringRedisTemplate(connections);
				LockRequest request = RedisRequests.request(this.key, Duration.ZERO);
				LockLease lease = backend.acquire(request);
				String stored = LockKey.of(this.key).lock();
				assertThat(redis.expire(stored, Duration.ofSeconds(10))).isTrue();
				LockLease again = backend.acquire(request);
				assertThat(again.epoch()).isEqualTo(lease.epoch());
				assertThat(redis.getExpire(stored)).isGreaterThan(30);
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	@Test
	void quorumGetsTheLockWhenAMajorityIsReady() throws Exception {
		try (RedisQuorum servers = new RedisQuorum()) {
			RedisConnectionFactory settings = RedisConnections.lettuce(servers.server(0).port());
			try (RedisQuorumNodes nodes = RedisQuorumNodes.of(settings, servers.nodes())) {
				RedisQuorumLockBackend backend = new RedisQuorumLockBackend(nodes);
				release(backend.acquire(RedisRequests.request("connected", LONG)));
				List<RedisServer> majority = servers.servers().subList(0, 2);
				majority.forEach(Unreadiness.READONLY::begin);
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(RedisRequests.request(this.key, Duration.ZERO)))
					.havingRootCause()
					.withMessageContaining("READONLY");
				AtomicBoolean refused = new AtomicBoolean();
				servers.proxy(0).beforeReply(() -> {
					if (refused.compareAndSet(false, true)) {
						majority.forEach(Unreadiness.READONLY::end);
					}
				});
				release(backend.acquire(RedisRequests.request(this.key + "2", LONG)));
				assertThat(refused).isTrue();
			}
			finally {
				RedisConnections.close(settings);
			}
		}
	}

	private static void release(LockLease lease) {
		assertThat(lease).isNotNull();
		lease.release().toCompletableFuture().join();
	}

}
