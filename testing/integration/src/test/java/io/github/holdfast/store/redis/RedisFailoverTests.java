package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.RedisSentinels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Locks go on when Sentinels have promoted the replica. */
@Tag("long")
@Timeout(300)
class RedisFailoverTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final String key = "failover:" + UUID.randomUUID();

	@ParameterizedTest
	@EnumSource
	void newMasterTakesLocksAndWakesWaiters(RedisClientType client) throws Exception {
		String channel = LockKey.of(this.key).channel();
		try (RedisSentinels sentinels = RedisSentinels.start(); RedisNode node = client.connect(sentinels)) {
			LockBackend.Lease before = node
				.acquired(Requests.request("before:" + this.key, PATIENCE, Duration.ofSeconds(2)));
			Semaphore signals = new Semaphore(0);
			Runnable end = node.driver().listen(channel, signals::release);
			await().atMost(PATIENCE).until(() -> isSubscribed(sentinels, channel));
			sentinels.failOver();
			LockBackend.Lease held = await().atMost(PATIENCE)
				.ignoreException(LockBackendException.class)
				.until(() -> node.backend().acquire(Requests.request(this.key, Requests.NO_WAIT)),
						(lease) -> lease != null);
			await().atMost(PATIENCE).until(() -> isSubscribed(sentinels, channel));
			signals.drainPermits();
			FutureTask<LockBackend.@Nullable Lease> waiter = node.waiter(Requests.request(this.key, PATIENCE));
			assertThat(RedisNode.release(held)).isTrue();
			assertThat(signals.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as("message of the new master")
				.isTrue();
			assertThat(waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isNotNull();
			end.run();
			LockBackend.Lease after = node.acquired(Requests.request("before:" + this.key, PATIENCE));
			assertThat(after.epoch()).isGreaterThan(before.epoch());
		}
	}

	private static boolean isSubscribed(RedisSentinels sentinels, String channel) {
		return sentinels.master().command("PUBSUB", "NUMSUB", channel).toString().endsWith(" 1]");
	}

}
