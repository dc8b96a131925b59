package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisSentinels;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Sentinels promote the replica, or a master of a Cluster is down or stands still: locks
 * go on, with the rest of the masters.
 */
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

	private static final Duration LONG = Requests.LONG;

	private static final Duration LEASE = Duration.ofSeconds(6);

	@ParameterizedTest
	@EnumSource
	void clusterIsUpWithTheRestOfItsMastersAndDownWithoutAny(RedisClientType client) throws Exception {
		try (RedisCluster cluster = RedisCluster.start("--cluster-require-full-coverage", "no");
				RedisNode node = client.connect(cluster)) {
			for (int master = 0; master < 3; master++) {
				acquireAndRelease(node, keys(master, 1).get(0));
			}
			cluster.masters().get(2).kill();
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> node.backend().acquire(Requests.request(keys(2, 1).get(0), Requests.NO_WAIT)));
			acquireAndRelease(node, keys(0, 1).get(0));
			acquireAndRelease(node, keys(1, 1).get(0));
			await().atMost(LONG)
				.ignoreExceptionsInstanceOf(LockBackendException.class)
				.untilAsserted(() -> assertThat(node.backend().ping()).isNotNull());
			cluster.masters().forEach(RedisServer::kill);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> node.backend().ping());
		}
	}

	/**
	 * Waiting for the master that stands still does not keep others from being renewed.
	 */
	@ParameterizedTest
	@EnumSource
	void locksOfTheOtherMastersAreKept(RedisClientType client) throws Exception {
		try (RedisCluster cluster = RedisCluster.start("--cluster-node-timeout", "60000");
				RedisNode redis = client.connect(cluster);
				GuardedNode node = new GuardedNode(redis.backend(), null)) {
			LockTemplate locks = node.locks().withKeyPrefix("").withLeaseTime(LEASE).withWaitTime(LONG);
			RedisServer master = cluster.masters().get(0);
			LockTemplate.Scope lost = locks.acquire(keys(0, 12));
			AtomicBoolean kept = new AtomicBoolean();
			try {
				locks.run(keys(2, 1).get(0), () -> {
					LockContext lock = LockContext.current().orElseThrow();
					master.pause();
					await().during(LEASE.multipliedBy(2)).atMost(LEASE.multipliedBy(4)).until(lock::isValid);
					kept.set(lock.isValid());
				});
			}
			finally {
				master.resume();
			}
			assertThat(kept).isTrue();
			assertThatExceptionOfType(LockLostAfterWorkException.class).isThrownBy(lost::close);
		}
	}

	private static void acquireAndRelease(RedisNode node, String key) throws Exception {
		assertThat(RedisNode.release(node.acquired(Requests.request(key, LONG)))).isTrue();
	}

	/** Keys whose slots are those of one of the three masters. */
	private static List<String> keys(int master, int number) {
		return Stream.generate(() -> "outage:" + UUID.randomUUID())
			.filter((key) -> masterOf(ClusterSlotHashUtil.calculateSlot(key)) == master)
			.limit(number)
			.toList();
	}

	private static int masterOf(int slot) {
		return ((slot + 1) * 3 - 1) / ClusterSlotHashUtil.SLOT_COUNT;
	}

}
