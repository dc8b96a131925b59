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

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.Unreadiness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What becomes of requests that Redis refuses because it is not ready. */
@Timeout(180)
@Tag("long")
class UnreadyRedisTests {

	private static final Duration LONG = RedisRequests.LONG;

	private final String key = "unready:" + UUID.randomUUID();

	@ParameterizedTest
	@EnumSource
	void lettuceGetsTheLockWhenRedisIsReady(Unreadiness unreadiness) throws Exception {
		try (RedisServer server = unreadiness.start();
				FaultProxy proxy = new FaultProxy(server.port());
				RedisNode node = RedisClientType.LETTUCE.connect(proxy.port())) {
			assertLockIsGrantedWhenReady(node, unreadiness, server, proxy);
		}
	}

	@ParameterizedTest
	@EnumSource
	void redissonGetsTheLockWhenRedisIsReady(Unreadiness unreadiness) throws Exception {
		try (RedisServer server = unreadiness.start();
				FaultProxy proxy = new FaultProxy(server.port());
				RedisNode node = redissonWithoutRepetitions(proxy.port())) {
			assertLockIsGrantedWhenReady(node, unreadiness, server, proxy);
		}
	}

	private void assertLockIsGrantedWhenReady(RedisNode node, Unreadiness unreadiness, RedisServer server,
			FaultProxy proxy) throws Exception {
		release(node.acquired(RedisRequests.request("connected", LONG)));
		unreadiness.begin(server);
		AtomicBoolean refused = new AtomicBoolean();
		proxy.beforeReply(() -> {
			if (refused.compareAndSet(false, true)) {
				unreadiness.end(server);
			}
		});
		release(node.acquired(RedisRequests.request(this.key, LONG)));
		assertThat(refused).isTrue();
	}

	@Test
	void singleAttemptFailsWhileRedisIsNotReady() throws Exception {
		try (RedisServer server = RedisServer.start();
				RedisNode lettuce = RedisClientType.LETTUCE.connect(server.port());
				RedisNode redisson = redissonWithoutRepetitions(server.port())) {
			Unreadiness.READONLY.begin(server);
			for (RedisNode node : List.of(lettuce, redisson)) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> node.backend().acquire(RedisRequests.request(this.key, RedisRequests.NO_WAIT)))
					.havingRootCause()
					.withMessageContaining("READONLY");
			}
		}
	}

	@Test
	void quorumGetsTheLockWhenAMajorityIsReady() throws Exception {
		LettuceConnectionFactory settings = RedisConnections.lettuce(1);
		try (RedisQuorum servers = new RedisQuorum();
				RedisQuorumLockBackend backend = new RedisQuorumLockBackend(settings, servers.nodes())) {
			release(backend.acquire(RedisRequests.request("connected", LONG)));
			List<RedisServer> majority = servers.servers().subList(0, 2);
			majority.forEach(Unreadiness.READONLY::begin);
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend.acquire(RedisRequests.request(this.key, RedisRequests.NO_WAIT)))
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

	/** With one connection. */
	private static RedisNode redissonWithoutRepetitions(int port) {
		return RedisNode.redisson(RedissonClients.create((config) -> config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setConnectionMinimumIdleSize(1)
			.setConnectionPoolSize(1)
			.setPingConnectionInterval(0)
			.setRetryAttempts(0)));
	}

	private static void release(LockBackend.Lease lease) throws Exception {
		assertThat(lease).isNotNull();
		assertThat(RedisNode.release(lease)).isTrue();
	}

}
