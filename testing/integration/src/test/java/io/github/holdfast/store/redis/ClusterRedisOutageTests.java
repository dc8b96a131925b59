package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster that goes on with the rest of its slots when one of its masters is
 * down.
 */
@Tag("long")
@Tag("F82")
@Timeout(180)
class ClusterRedisOutageTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final int FIRST_OF_LAST_MASTER = 16384 * 2 / 3;

	@Test
	void clusterIsUpWithTheRestOfItsMastersAndDownWithoutAny() throws Exception {
		try (RedisCluster cluster = RedisCluster.start("--cluster-require-full-coverage", "no")) {
			LettuceConnectionFactory connections = RedisConnections.lettuce(cluster);
			try (RedisLockBackend backend = new RedisLockBackend(() -> connections)) {
				acquireAndRelease(backend, key((slot) -> slot >= FIRST_OF_LAST_MASTER));
				acquireAndRelease(backend, key((slot) -> slot < FIRST_OF_LAST_MASTER));
				cluster.masters().get(2).kill();
				String lost = key((slot) -> slot >= FIRST_OF_LAST_MASTER);
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(RedisRequests.request(lost, Duration.ZERO)));
				acquireAndRelease(backend, key((slot) -> slot < FIRST_OF_LAST_MASTER));
				await().atMost(LONG)
					.ignoreExceptionsInstanceOf(LockBackendException.class)
					.untilAsserted(() -> assertThat(backend.probe(lost)).isNotNull());
				cluster.masters().forEach(RedisServer::kill);
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.probe(lost));
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	private static void acquireAndRelease(RedisLockBackend backend, String key) throws Exception {
		LockLease lease = backend.acquire(RedisRequests.request(key, Duration.ZERO));
		assertThat(lease).isNotNull();
		assertThat(lease.release().toCompletableFuture().get()).isTrue();
	}

	private static String key(IntPredicate slot) {
		return Stream.generate(() -> "outage:" + UUID.randomUUID())
			.filter((key) -> slot.test(ClusterSlotHashUtil.calculateSlot(LockKey.of(key).lock())))
			.findFirst()
			.orElseThrow();
	}

}
