package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract on a Redis Cluster with three masters.
 */
@Tag("long")
@Tag("night")
class ClusterRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisCluster cluster = RedisCluster.start();

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.cluster);
	}

	@Test
	void keysInSeveralSlotsAreNotTakenAtOnce() {
		RedisConnectionFactory connections = connect();
		try {
			assertThat(new RedisLockBackend(() -> connections).acquireAll(
					List.of(RedisRequests.request("a", Duration.ZERO), RedisRequests.request("b", Duration.ZERO))))
				.isNull();
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@Test
	void documentedPrivilegesAreEnough() throws Exception {
		this.cluster.masters().forEach((master) -> {
			RedisUser.SPRING.create(master, "");
			master.command("ACL", "SETUSER", RedisUser.NAME, "+cluster|nodes");
		});
		RedisConnectionFactory connections = RedisConnections.lettuce(this.cluster, RedisUser.NAME, RedisUser.PASSWORD);
		try {
			assertWorks(new RedisLockBackend(() -> connections));
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	/**
	 * With keys on all masters.
	 */
	private static void assertWorks(RedisLockBackend backend) throws Exception {
		for (int i = 0; i < 10; i++) {
			String key = "works:" + UUID.randomUUID();
			LockLease lease = backend.acquire(RedisRequests.request(key, Duration.ofSeconds(30)));
			assertThat(lease).isNotNull();
			assertThat(lease.renew(Duration.ofSeconds(30))).isTrue();
			assertThat(backend.holder(key)).isNotNull();
			assertThat(backend.acquire(RedisRequests.request(key, Duration.ofMillis(10)))).isNull();
			assertThat(lease.release().toCompletableFuture().get()).isTrue();
		}
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

}
