package io.github.holdfast.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.Unreadiness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/** Locks while something is wrong with Redis, its data, or the way to it. */
@ParameterizedClass
@EnumSource(RedisClientType.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
class RedisLockFaultTests {

	private static final Duration NO_WAIT = RedisRequests.NO_WAIT;

	private static final Duration LONG = RedisRequests.LONG;

	private final RedisServer server = RedisServer.start();

	@Parameter
	private RedisClientType client;

	private FaultProxy proxy;

	private RedisNode node;

	private String key;

	private LockKey names;

	@BeforeEach
	void connect() {
		this.server.command("FLUSHALL");
		this.key = "fault:" + UUID.randomUUID();
		this.names = LockKey.of(this.key);
		this.proxy = new FaultProxy(this.server.port());
		this.node = this.client.connect(this.proxy.port());
	}

	@AfterEach
	void disconnect() {
		this.proxy.inject(Fault.NONE);
		this.node.close();
		this.proxy.close();
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

	// Data

	@Test
	void epochRisesAlthoughTheLastOneIsAheadOfTheClock() throws Exception {
		LockBackend.Lease lease = acquired();
		long ahead = lease.epoch() + 1_000_000_000_000L;
		assertThat(RedisNode.release(lease)).isTrue();
		this.server.command("SET", this.names.names().get(1), ahead + " owner");
		LockBackend.Lease next = acquired();
		assertThat(next.epoch()).isEqualTo(ahead + 1);
		assertThat(RedisNode.renew(next)).isTrue();
		assertThat(this.node.backend().forceRelease(this.key)).isTrue();
		assertThat(acquired().epoch()).isEqualTo(ahead + 2);
	}

	@Test
	void epochOutlivesTheLease() throws Exception {
		assertThat(RedisNode.release(acquired())).isTrue();
		assertThat((Long) this.server.command("PTTL", this.names.names().get(1)))
			.isGreaterThan(Duration.ofHours(23).toMillis());
	}

	@Test
	void foreignValueIsAnErrorAndIsLeftAlone() throws Exception {
		LockBackend.Lease lease = acquired();
		this.server.command("SET", this.key, "foreign");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.node.backend().acquire(RedisRequests.request(this.key, LONG)))
			.havingRootCause()
			.withMessageContaining("WRONGTYPE");
		assertThat(lease.renew(LONG)).failsWithin(LONG).withThrowableThat().withMessageContaining(this.key);
		assertThat(this.server.command("GET", this.key)).isEqualTo("foreign");
	}

	@Test
	void fullRedisGrantsNothingButKeepsAndFreesHeldLocks() throws Exception {
		LockBackend.Lease lease = acquired();
		this.server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.node.backend().acquire(RedisRequests.request("full:" + this.key, NO_WAIT)))
				.havingRootCause()
				.withMessageContaining("maxmemory");
			assertThat(RedisNode.release(lease)).isTrue();
		}
		finally {
			this.server.command("CONFIG", "SET", "maxmemory", "0");
		}
		assertThat(this.server.command("KEYS", "full:*")).isEqualTo(List.of());
	}

	@Test
	void scriptsThatRedisHasForgottenAreSentAgain() throws Exception {
		LockBackend.Lease lease = acquired();
		this.server.command("SCRIPT", "FLUSH");
		assertThat(RedisNode.renew(lease)).isTrue();
		this.server.command("SCRIPT", "FLUSH");
		assertThat(RedisNode.release(lease)).isTrue();
		this.server.command("SCRIPT", "FLUSH");
		acquired();
	}

	@Test
	void leaseTimeIsRoundedUp() throws Exception {
		Duration leaseTime = Duration.ofSeconds(50).plusNanos(1);
		String commands = this.server.commandsDuring(() -> {
			LockBackend.Lease lease = this.node.acquired(RedisRequests.request(this.key, NO_WAIT, leaseTime));
			return lease.renew(leaseTime).toCompletableFuture().join();
		});
		assertThat(commands).contains(" 50001,").doesNotContain(" 50000,");
	}

	@Test
	void leaseTimeThatRedisCannotAddToItsClockIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(
				() -> this.node.backend().acquire(RedisRequests.request(this.key, NO_WAIT, Duration.ofDays(10_000))));
		assertThat(this.server.command("EXISTS", this.key)).isEqualTo(0L);
	}

	// Repeated requests

	@Test
	void repeatedAttemptGetsTheSameGrantForItsWholeTime() throws Exception {
		LockRequest request = RedisRequests.request(this.key, NO_WAIT);
		LockBackend.Lease lease = this.node.acquired(request);
		this.server.command("EXPIRE", this.key, "10");
		assertThat(this.node.acquired(request).epoch()).isEqualTo(lease.epoch());
		assertThat((Long) this.server.command("TTL", this.key)).isGreaterThan(30);
	}

	@Test
	void attemptThatArrivesAfterTheReleaseGetsNothing() throws Exception {
		LockRequest request = RedisRequests.request(this.key, NO_WAIT);
		assertThat(RedisNode.release(this.node.acquired(request))).isTrue();
		assertThat(this.node.backend().acquire(request)).isNull();
		acquired();
	}

	@Test
	void repeatedReleaseSucceedsUntilAnotherOwnerHasHeldTheLock() throws Exception {
		LockRequest request = RedisRequests.request(this.key, NO_WAIT);
		LockBackend.Lease lease = this.node.acquired(request);
		LockBackend.Lease same = this.node.acquired(request);
		LockBackend.Lease late = this.node.acquired(request);
		assertThat(RedisNode.release(lease)).isTrue();
		assertThat(RedisNode.release(same)).isTrue();
		assertThat(RedisNode.release(same)).isFalse();
		assertThat(RedisNode.release(acquired())).isTrue();
		assertThat(RedisNode.release(late)).isFalse();
	}

	// Answers that do not come

	@Test
	void lockOfAnUnknownOutcomeIsTakenBack() throws Exception {
		acquired("connected");
		this.proxy.inject(Fault.DROP_REPLIES);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.node.backend().acquire(RedisRequests.request(this.key, NO_WAIT)))
			.withMessageContaining("did not answer in time");
		await().until(() -> this.server.command("EXISTS", this.key).equals(0L)
				|| this.server.command("HGET", this.key, "mode").equals("write"));
		this.proxy.inject(Fault.NONE);
		this.proxy.reset();
		await().atMost(LONG.dividedBy(2)).until(() -> this.server.command("EXISTS", this.key).equals(0L));
	}

	@Test
	void lockOfAnInterruptedCallIsTakenBack() throws Exception {
		acquired("connected");
		this.proxy.inject(Fault.HOLD_REPLIES);
		AtomicBoolean interrupted = new AtomicBoolean();
		Thread call = new Thread(() -> {
			try {
				this.node.backend().acquire(RedisRequests.request(this.key, LONG));
			}
			catch (InterruptedException ex) {
				interrupted.set(true);
			}
		});
		call.start();
		await().until(() -> this.server.command("EXISTS", this.key).equals(1L));
		call.interrupt();
		call.join(LONG.toMillis());
		assertThat(interrupted).isTrue();
		this.proxy.inject(Fault.NONE);
		await().atMost(LONG.dividedBy(2)).until(() -> this.server.command("EXISTS", this.key).equals(0L));
	}

	@Test
	void waiterGetsTheLockWhenRedisIsReady() throws Exception {
		acquired("connected");
		Unreadiness.READONLY.begin(this.server);
		AtomicBoolean refused = new AtomicBoolean();
		this.proxy.beforeReply(() -> {
			if (refused.compareAndSet(false, true)) {
				Unreadiness.READONLY.end(this.server);
			}
		});
		this.node.acquired(RedisRequests.request(this.key, LONG));
		assertThat(refused).isTrue();
	}

	// Messages

	@Test
	void waiterWhoseSubscriptionIsKilledStillGetsTheLock() throws Exception {
		LockBackend.Lease lease = acquired();
		FutureTask<LockBackend.@Nullable Lease> waiter = this.node.waiter(RedisRequests.request(this.key, LONG));
		for (int i = 0; i < 3; i++) {
			awaitSubscribers(1);
			assertThat((Long) this.server.command("CLIENT", "KILL", "TYPE", "pubsub")).isPositive();
		}
		awaitSubscribers(1);
		assertThat(RedisNode.release(lease)).isTrue();
		assertThat(waiter.get(LONG.toSeconds(), TimeUnit.SECONDS)).isNotNull();
		awaitSubscribers(0);
	}

	// Operators

	@Test
	void holderIsDescribed() throws Exception {
		assertThat(this.node.backend().holder(this.key)).isNull();
		LockBackend.Lease lease = acquired();
		LockHolder holder = this.node.backend().holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.description()).startsWith("held by test, ");
		assertThat(holder.epoch()).isEqualTo(lease.epoch());
		assertThat(holder.since()).isBetween(Instant.now().minus(LONG), Instant.now().plus(LONG));
		assertThat(Duration.between(holder.since(), holder.expires())).isBetween(LONG.minusSeconds(5),
				LONG.plusSeconds(5));
	}

	@Test
	void lockIsReleasedByForceAndItsHolderNotices() throws Exception {
		for (LockMode mode : List.of(LockMode.EXCLUSIVE, LockMode.SHARED)) {
			assertThat(this.node.backend().forceRelease(this.key)).isFalse();
			LockBackend.Lease lease = (mode == LockMode.SHARED)
					? this.node.acquired(RedisRequests.shared(this.key, NO_WAIT)) : acquired();
			FutureTask<LockBackend.@Nullable Lease> waiter = this.node.waiter(RedisRequests.request(this.key, LONG));
			awaitSubscribers(1);
			assertThat(this.node.backend().forceRelease(this.key)).isTrue();
			LockBackend.Lease next = waiter.get(LONG.toSeconds(), TimeUnit.SECONDS);
			assertThat(next).isNotNull();
			assertThat(next.epoch()).isGreaterThan(lease.epoch());
			assertThat(RedisNode.renew(lease)).isFalse();
			assertThat(RedisNode.release(lease)).isFalse();
			assertThat(RedisNode.release(next)).isTrue();
		}
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
			LockRequest request = (i % 2 == 0) ? RedisRequests.fair("many:" + i, LONG)
					: RedisRequests.shared("many:" + i, LONG);
			LockBackend.Lease lease = this.node.acquired(request);
			assertThat(this.node.backend().acquire(RedisRequests.fair("many:" + i, Duration.ofMillis(1)))).isNull();
			assertThat(RedisNode.release(lease)).isTrue();
		}
		assertThat(this.server.command("DBSIZE")).isEqualTo(200L);
		await().until(() -> this.server.command("PUBSUB", "CHANNELS", "*many:*").equals(List.of()));
	}

	private LockBackend.Lease acquired() throws InterruptedException {
		return acquired(this.key);
	}

	private LockBackend.Lease acquired(String key) throws InterruptedException {
		return this.node.acquired(RedisRequests.request(key, NO_WAIT));
	}

	private void awaitSubscribers(int count) {
		await().atMost(LONG)
			.until(() -> this.server.command("PUBSUB", "NUMSUB", this.names.channel())
				.toString()
				.endsWith(" " + count + "]"));
	}

}
