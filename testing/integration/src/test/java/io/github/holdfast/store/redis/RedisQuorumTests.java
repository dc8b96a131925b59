package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Locks on a majority of three masters, some of which fail. */
@Timeout(120)
class RedisQuorumTests {

	private static final Duration NO_WAIT = Requests.NO_WAIT;

	private static final Duration LONG = Requests.LONG;

	/** Less than a lease: a lock that is left by mistake does not end in this time. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisQuorum quorum = new RedisQuorum();

	/** Only its settings are used. */
	private final LettuceConnectionFactory settings = RedisConnections.lettuce(1);

	private final RedisQuorumLockBackend backend = new RedisQuorumLockBackend(this.settings, this.quorum.nodes());

	private final RedisQuorumLockBackend other = new RedisQuorumLockBackend(this.settings, this.quorum.nodes());

	private final String key = "quorum:" + UUID.randomUUID();

	@BeforeEach
	void connect() {
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.until(() -> this.backend.ping().topology().startsWith("3 of 3")
					&& this.other.ping().topology().startsWith("3 of 3"));
	}

	@AfterEach
	void close() {
		this.backend.close();
		this.other.close();
		RedisConnections.close(this.settings);
		this.quorum.close();
	}

	@Test
	void lockIsOnAllNodesAndIsReleasedOnAll() throws Exception {
		LockBackend.Lease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		assertThat(this.other.acquire(Requests.request(this.key, NO_WAIT))).isNull();
		LockHolder holder = this.other.holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.description()).contains("held by test");
		assertThat(holder.epoch()).isEqualTo(lease.epoch());
		assertThat(RedisNode.release(lease)).isTrue();
		await().until(() -> holders() == 0);
		assertThat(this.other.holder(this.key)).isNull();
	}

	@Test
	void lockIsReleasedByForceOnAllNodes() throws Exception {
		LockBackend.Lease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		assertThat(this.other.forceRelease(this.key)).isTrue();
		assertThat(holders()).isZero();
		assertThat(this.other.forceRelease(this.key)).isFalse();
		assertThat(RedisNode.renew(lease)).isFalse();
		assertThat(RedisNode.release(lease)).isFalse();
	}

	@Test
	void pingNeedsAMajority() {
		disconnect(0);
		await().untilAsserted(() -> assertThat(this.backend.ping().topology()).isEqualTo("2 of 3 Redis nodes"));
		disconnect(1);
		await()
			.untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class).isThrownBy(this.backend::ping));
	}

	@ParameterizedTest
	@EnumSource
	void oneNodeMayFail(Failure failure) throws Exception {
		failure.of(this.quorum, 0);
		LockBackend.Lease lease = acquired(this.backend);
		assertThat(this.other.acquire(Requests.request(this.key, NO_WAIT))).isNull();
		assertThat(this.backend.holder(this.key)).isNotNull();
		assertThat(RedisNode.renew(lease)).isTrue();
		FutureTask<LockBackend.@Nullable Lease> waiter = Threads
			.start(() -> this.other.acquire(Requests.request(this.key, LONG)));
		assertThat(RedisNode.release(lease)).isTrue();
		LockBackend.Lease next = waiter.get(LONG.toSeconds(), TimeUnit.SECONDS);
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
	}

	/** The node that fails may still have the lock. */
	@Test
	void lockIsNotLostWhileAMajorityMayHaveIt() throws Exception {
		LockBackend.Lease lease = acquired(this.backend);
		await().atMost(PATIENCE).until(() -> holders() == 3);
		this.quorum.server(1).command("DEL", this.key);
		disconnect(0);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> RedisNode.renew(lease))
			.withCauseInstanceOf(LockBackendException.class);
		this.quorum.proxy(0).inject(Fault.NONE);
		await().atMost(PATIENCE).ignoreExceptions().until(() -> RedisNode.renew(lease));
		assertThat(RedisNode.release(lease)).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void twoNodesMayNotFail(Failure failure) throws Exception {
		LockBackend.Lease lease = acquired(this.backend);
		failure.of(this.quorum, 0);
		failure.of(this.quorum, 1);
		// Both wait for the same time
		List<CompletionStage<Boolean>> answers = List.of(lease.renew(LONG), lease.release());
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.other.acquire(Requests.request("other", LONG)))
			.withMessageContaining("a majority of the Redis nodes");
		assertThat(answers).allSatisfy((answer) -> assertThat(answer).failsWithin(PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class));
	}

	@Test
	void epochRisesWhateverMajorityGrantsTheLock() throws Exception {
		long last = 0;
		for (int i = 0; i < 6; i++) {
			int down = i % 3;
			this.quorum.server(down).command("SET", LockKey.of(this.key).names().get(0), "not a lock");
			LockBackend.Lease lease = acquired(this.backend);
			assertThat(lease.epoch()).isGreaterThan(last);
			last = lease.epoch();
			this.quorum.server((down + 1) % 3)
				.command("SET", LockKey.of(this.key).names().get(1), (last + 1_000_000_000L) + " owner");
			assertThat(RedisNode.release(lease)).isTrue();
			this.quorum.server(down).command("DEL", LockKey.of(this.key).names().get(0));
		}
	}

	@Test
	void lockOnAMinorityIsLostAndIsTakenByAnother() throws Exception {
		LockBackend.Lease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		this.quorum.server(0).command("FLUSHALL");
		assertThat(RedisNode.renew(lease)).isTrue();
		this.quorum.server(1).command("FLUSHALL");
		assertThat(RedisNode.renew(lease)).isFalse();
		assertThat(acquired(this.other).epoch()).isGreaterThan(lease.epoch());
	}

	@Test
	void attemptWithoutAMajorityLeavesNothing() throws Exception {
		for (int node = 0; node < 2; node++) {
			this.quorum.server(node).command("HSET", this.key, "another", "1", "mode", "write");
			this.quorum.server(node).command("SET", LockKey.of(this.key).names().get(1), "1 another");
		}
		assertThat(this.backend.acquire(Requests.request(this.key, Duration.ofMillis(300)))).isNull();
		await().until(() -> this.quorum.server(2).command("EXISTS", this.key).equals(0L));
		assertThat(holders()).isEqualTo(2);
	}

	@Test
	void interruptedAttemptLeavesNothing() throws Exception {
		// All nodes know the scripts then
		LockBackend.Lease before = acquired(this.backend);
		await().until(() -> holders() == 3);
		assertThat(RedisNode.release(before)).isTrue();
		await().until(() -> holders() == 0);
		List<Object> epochs = epochs();
		this.quorum.proxy(0).inject(Fault.HOLD_REPLIES);
		this.quorum.proxy(1).inject(Fault.HOLD_REPLIES);
		Thread call = new Thread(() -> {
			try {
				this.backend.acquire(Requests.request(this.key, LONG));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		call.start();
		await().until(() -> epochs().stream().noneMatch(epochs::contains));
		call.interrupt();
		this.quorum.proxy(0).inject(Fault.NONE);
		this.quorum.proxy(1).inject(Fault.NONE);
		call.join(LONG.toMillis());
		await().atMost(PATIENCE).until(() -> holders() == 0);
	}

	/** The requests wait for the connection, and keep their order. */
	@Test
	void releaseDoesNotOvertakeItsAcquisitionOnANodeThatIsStillConnecting() throws Exception {
		this.quorum.proxy(2).inject(Fault.HOLD_REPLIES);
		try (RedisQuorumLockBackend fresh = new RedisQuorumLockBackend(this.settings, this.quorum.nodes())) {
			assertThat(RedisNode.release(acquired(fresh))).isTrue();
			this.quorum.proxy(2).inject(Fault.NONE);
			String epoch = "holdfast_epoch:{" + this.key + "}";
			await().atMost(PATIENCE).until(() -> (Long) this.quorum.server(2).command("EXISTS", epoch) == 1);
			await().atMost(PATIENCE).until(() -> holders() == 0);
		}
	}

	private void disconnect(int node) {
		this.quorum.proxy(node).inject(Fault.REFUSE);
		this.quorum.proxy(node).reset();
	}

	private LockBackend.Lease acquired(RedisQuorumLockBackend backend) throws InterruptedException {
		LockBackend.Lease lease = backend.acquire(Requests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	/** What remains of the last attempt on each node. */
	private List<Object> epochs() {
		return this.quorum.servers()
			.stream()
			.map((server) -> server.command("GET", LockKey.of(this.key).names().get(1)))
			.toList();
	}

	private long holders() {
		return this.quorum.servers().stream().mapToLong((server) -> (Long) server.command("EXISTS", this.key)).sum();
	}

	enum Failure {

		KILLED, CUT_OFF;

		void of(RedisQuorum quorum, int node) {
			if (this == KILLED) {
				quorum.server(node).kill();
			}
			else {
				quorum.proxy(node).inject(Fault.BLACKHOLE);
			}
		}

	}

}
