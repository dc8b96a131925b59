package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisSentinels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks go on when Sentinels have promoted the replica.
 */
@Timeout(180)
class RedisFailoverTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final String key = "failover:" + UUID.randomUUID();

	@Test
	void newMasterTakesLocksAndWakesWaiters() throws Exception {
		try (RedisSentinels sentinels = RedisSentinels.start()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(sentinels);
			RedisLockBackend backend = new RedisLockBackend(() -> connections);
			String channel = LockKey.of(this.key).channel();
			LockLease before = backend
				.acquire(RedisRequests.request("before:" + this.key, PATIENCE, Duration.ofSeconds(2)));
			assertThat(before).isNotNull();
			try (Signal signal = backend.driver().listen(channel)) {
				assertThat(signal).isNotNull();
				await().until(() -> subscribers(sentinels, channel));
				sentinels.failOver();
				await().atMost(PATIENCE)
					.ignoreException(LockBackendException.class)
					.until(() -> backend.acquire(RedisRequests.request(this.key, Duration.ZERO)) != null);
				await().atMost(PATIENCE).until(() -> subscribers(sentinels, channel));
			}
			LockLease after = backend.acquire(RedisRequests.request("before:" + this.key, PATIENCE));
			assertThat(after).isNotNull();
			assertThat(after.epoch()).isGreaterThan(before.epoch());
			RedisConnections.close(connections);
		}
	}

	private static boolean subscribers(RedisSentinels sentinels, String channel) {
		return sentinels.master().command("PUBSUB", "NUMSUB", channel).toString().endsWith(" 1]");
	}

}
