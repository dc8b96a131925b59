package io.github.holdfast.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/** Locks while something is wrong with Redis, its data, or the way to it. */
@ParameterizedClass
@EnumSource(RedisClientType.class)
class RedisLockFaultTests extends LockFaultContractTests {

	private static final Duration LONG = Requests.LONG;

	@AutoClose
	private static final RedisServer server = RedisServer.start();

	@Parameter
	private RedisClientType client;

	private RedisNode node;

	private LockKey names;

	@Override
	protected TestStore<?> open() {
		server.command("FLUSHALL");
		this.names = LockKey.of(this.key);
		RedisTestStore store = new RedisTestStore(server, this.client);
		this.node = store.nearClient();
		return store;
	}

	@Test
	void epochRisesAlthoughTheLastOneIsAheadOfTheClock() throws Exception {
		LockBackend.Lease lease = acquired();
		long ahead = lease.epoch() + 1_000_000_000_000L;
		assertThat(RedisNode.release(lease)).isTrue();
		server.command("SET", this.names.names().get(1), ahead + " owner");
		LockBackend.Lease next = acquired();
		assertThat(next.epoch()).isEqualTo(ahead + 1);
		assertThat(RedisNode.renew(next)).isTrue();
		assertThat(this.node.backend().forceRelease(this.key)).isTrue();
		assertThat(acquired().epoch()).isEqualTo(ahead + 2);
	}

	@Test
	void epochOutlivesTheLease() throws Exception {
		assertThat(RedisNode.release(acquired())).isTrue();
		assertThat((Long) server.command("PTTL", this.names.names().get(1)))
			.isGreaterThan(Duration.ofHours(23).toMillis());
	}

	@Test
	void foreignValueIsAnErrorAndIsLeftAlone() throws Exception {
		LockBackend.Lease lease = acquired();
		server.command("SET", this.key, "foreign");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.node.backend().acquire(Requests.request(this.key, LONG)))
			.havingRootCause()
			.withMessageContaining("WRONGTYPE");
		assertThat(lease.renew(LONG)).failsWithin(LONG).withThrowableThat().withMessageContaining(this.key);
		assertThat(server.command("GET", this.key)).isEqualTo("foreign");
	}

	@Test
	void fullRedisGrantsNothingButKeepsAndFreesHeldLocks() throws Exception {
		LockBackend.Lease lease = acquired();
		server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.node.backend().acquire(Requests.request("full:" + this.key, NO_WAIT)))
				.havingRootCause()
				.withMessageContaining("maxmemory");
			assertThat(RedisNode.renew(lease)).isTrue();
			assertThat(RedisNode.release(lease)).isTrue();
		}
		finally {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}
		assertThat(server.command("KEYS", "full:*")).isEqualTo(List.of());
	}

	@Test
	void scriptsThatRedisHasForgottenAreSentAgain() throws Exception {
		LockBackend.Lease lease = acquired();
		server.command("SCRIPT", "FLUSH");
		assertThat(RedisNode.renew(lease)).isTrue();
		server.command("SCRIPT", "FLUSH");
		assertThat(RedisNode.release(lease)).isTrue();
		server.command("SCRIPT", "FLUSH");
		acquired();
	}

	@Test
	void leaseTimeIsRoundedUp() throws Exception {
		Duration leaseTime = Duration.ofSeconds(50).plusNanos(1);
		String commands = server.commandsDuring(() -> {
			LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, NO_WAIT, leaseTime));
			return lease.renew(leaseTime).toCompletableFuture().join();
		});
		assertThat(commands).contains(" 50001,").doesNotContain(" 50000,");
	}

	@Test
	void leaseTimeThatRedisCannotAddToItsClockIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(
				() -> this.node.backend().acquire(Requests.request(this.key, NO_WAIT, Duration.ofDays(10_000))));
		assertThat(server.command("EXISTS", this.key)).isEqualTo(0L);
	}

	@Test
	void repeatedAttemptGetsTheSameGrantForItsWholeTime() throws Exception {
		LockRequest request = Requests.request(this.key, NO_WAIT);
		LockBackend.Lease lease = this.node.acquired(request);
		server.command("EXPIRE", this.key, "10");
		assertThat(this.node.acquired(request).epoch()).isEqualTo(lease.epoch());
		assertThat((Long) server.command("TTL", this.key)).isGreaterThan(30);
	}

	@Test
	void attemptThatArrivesAfterTheReleaseGetsNothing() throws Exception {
		LockRequest request = Requests.request(this.key, NO_WAIT);
		assertThat(RedisNode.release(this.node.acquired(request))).isTrue();
		assertThat(this.node.backend().acquire(request)).isNull();
		acquired();
	}

	@Test
	void repeatedReleaseSucceedsUntilAnotherOwnerHasHeldTheLock() throws Exception {
		LockRequest request = Requests.request(this.key, NO_WAIT);
		LockBackend.Lease lease = this.node.acquired(request);
		LockBackend.Lease same = this.node.acquired(request);
		LockBackend.Lease late = this.node.acquired(request);
		assertThat(RedisNode.release(lease)).isTrue();
		assertThat(RedisNode.release(same)).isTrue();
		assertThat(RedisNode.release(same)).isFalse();
		assertThat(RedisNode.release(acquired())).isTrue();
		assertThat(RedisNode.release(late)).isFalse();
	}

	@Test
	void lockOfAnUnknownOutcomeIsTakenBack() throws Exception {
		acquired("connected");
		proxy().inject(Fault.DROP_REPLIES);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.node.backend().acquire(Requests.request(this.key, NO_WAIT)))
			.withMessageContaining("did not answer in time");
		await().until(() -> server.command("EXISTS", this.key).equals(0L)
				|| server.command("HGET", this.key, "mode").equals("write"));
		proxy().inject(Fault.NONE);
		proxy().reset();
		await().atMost(LONG.dividedBy(2)).until(() -> server.command("EXISTS", this.key).equals(0L));
	}

	@Test
	void waiterWhoseSubscriptionIsKilledStillGetsTheLock() throws Exception {
		LockBackend.Lease lease = acquired();
		FutureTask<LockBackend.@Nullable Lease> waiter = this.node.waiter(Requests.request(this.key, LONG));
		for (int i = 0; i < 3; i++) {
			awaitSubscribers(1);
			assertThat((Long) server.command("CLIENT", "KILL", "TYPE", "pubsub")).isPositive();
		}
		awaitSubscribers(1);
		assertThat(RedisNode.release(lease)).isTrue();
		assertThat(waiter.get(LONG.toSeconds(), TimeUnit.SECONDS)).isNotNull();
		awaitSubscribers(0);
	}

	@Test
	void sharedLockIsReleasedByForceAndItsHolderNotices() throws Exception {
		LockBackend.Lease lease = this.node.acquired(Requests.shared(this.key, NO_WAIT));
		FutureTask<LockBackend.@Nullable Lease> waiter = this.node.waiter(Requests.request(this.key, LONG));
		awaitSubscribers(1);
		assertThat(this.node.backend().forceRelease(this.key)).isTrue();
		LockBackend.Lease next = waiter.get(LONG.toSeconds(), TimeUnit.SECONDS);
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(RedisNode.renew(lease)).isFalse();
		assertThat(RedisNode.release(lease)).isFalse();
		assertThat(RedisNode.release(next)).isTrue();
	}

	@Test
	void pingReportsTheClockOfRedis() {
		ManageableLockBackend.Status status = this.node.backend().ping();
		assertThat(status.topology()).startsWith("Redis");
		assertThat(status.time()).isBetween(Instant.now().minus(LONG), Instant.now().plus(LONG));
	}

	@Test
	void onlyTheEpochIsLeftOfManyKeys() throws Exception {
		for (int i = 0; i < 200; i++) {
			LockRequest request = (i % 2 == 0) ? Requests.fair("many:" + i, LONG) : Requests.shared("many:" + i, LONG);
			LockBackend.Lease lease = this.node.acquired(request);
			assertThat(this.node.backend().acquire(Requests.fair("many:" + i, Duration.ofMillis(1)))).isNull();
			assertThat(RedisNode.release(lease)).isTrue();
		}
		assertThat(server.command("DBSIZE")).isEqualTo(200L);
		await().until(() -> server.command("PUBSUB", "CHANNELS", "*many:*").equals(List.of()));
	}

	private LockBackend.Lease acquired() throws InterruptedException {
		return acquired(this.key);
	}

	private LockBackend.Lease acquired(String key) throws InterruptedException {
		return this.node.acquired(Requests.request(key, NO_WAIT));
	}

	private void awaitSubscribers(int count) {
		await().atMost(LONG)
			.until(() -> server.command("PUBSUB", "NUMSUB", this.names.channel())
				.toString()
				.endsWith(" " + count + "]"));
	}

}
