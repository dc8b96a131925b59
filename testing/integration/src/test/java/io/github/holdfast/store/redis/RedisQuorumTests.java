package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks on a majority of three masters, some of which fail.
 */
@Timeout(120)
class RedisQuorumTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Less than a lease: what is held by mistake does not run out in this time. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisQuorum quorum = new RedisQuorum();

	private final LettuceConnectionFactory settings = RedisConnections.lettuce(1);

	private final RedisQuorumNodes nodes = RedisQuorumNodes.of(this.settings, this.quorum.nodes());

	private final RedisQuorumNodes otherNodes = RedisQuorumNodes.of(this.settings, this.quorum.nodes());

	private final RedisQuorumLockBackend backend = new RedisQuorumLockBackend(this.nodes);

	private final RedisQuorumLockBackend other = new RedisQuorumLockBackend(this.otherNodes);

	private final String key = "quorum:" + UUID.randomUUID();

	@AfterEach
	void close() {
		this.nodes.close();
		this.otherNodes.close();
		RedisConnections.close(this.settings);
		this.quorum.close();
	}

	@Test
	void lockIsOnAllNodesAndIsGivenBackOnAll() throws Exception {
		connect();
		LockLease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		assertThat(this.other.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
		assertThat(release(lease)).isTrue();
		await().until(() -> holders() == 0);
	}

	@Test
	@Tag("F81")
	void holderIsWhomAMajorityNamesAndIsEvictedOnAll() throws Exception {
		connect();
		LockLease lease = acquired(this.backend);
		LockHolder holder = this.other.holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.isOf(lease.owner(), lease.epoch())).isTrue();
		assertThat(holder.expires()).isNotNull();
		assertThat(this.other.evict(this.key, lease.owner(), lease.epoch() + 1))
			.isEqualTo(LockBackend.Eviction.NOT_HELD);
		assertThat(this.other.evict(this.key, lease.owner(), lease.epoch())).isEqualTo(LockBackend.Eviction.EVICTED);
		assertThat(holders()).isZero();
		assertThat(lease.renew(LONG)).isFalse();
	}

	@Test
	@Tag("F82")
	void probeNeedsAMajority() throws Exception {
		connect();
		assertThat(this.backend.probe(this.key).topology()).isEqualTo("3 of 3 Redis nodes");
		this.quorum.proxy(0).inject(Fault.REFUSE);
		this.quorum.proxy(0).reset();
		await()
			.untilAsserted(() -> assertThat(this.backend.probe(this.key).topology()).isEqualTo("2 of 3 Redis nodes"));
		this.quorum.proxy(1).inject(Fault.REFUSE);
		this.quorum.proxy(1).reset();
		await().untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.probe(this.key)));
	}

	@ParameterizedTest
	@EnumSource
	void oneNodeMayFail(Failure failure) throws Exception {
		connect();
		failure.of(this.quorum, 0);
		LockLease lease = acquired(this.backend);
		assertThat(this.other.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
		await().atMost(LONG)
			.untilAsserted(() -> assertThat(this.backend.holder(this.key)).extracting(LockHolder::text)
				.asString()
				.contains("held by test"));
		assertThat(lease.renew(LONG)).isTrue();
		FutureTask<@Nullable LockLease> waiter = start(() -> this.other.acquire(RedisRequests.request(this.key, LONG)));
		assertThat(release(lease)).isTrue();
		LockLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(release(next)).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void nodeMayFailWhileTheLockIsHeld(Failure failure) throws Exception {
		connect();
		LockLease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		failure.of(this.quorum, 2);
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(this.other.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
		assertThat(release(lease)).isTrue();
		assertThat(release(acquired(this.other))).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void twoFailedNodesAreAFailureAndNotABusyLock(Failure failure) throws Exception {
		connect();
		LockLease lease = acquired(this.backend);
		failure.of(this.quorum, 0);
		failure.of(this.quorum, 1);
		// A request that was under way when its node failed has no answer at all
		await().atMost(LONG)
			.untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.backend.acquire(RedisRequests.request("free:" + this.key, NO_WAIT)))
				.withMessageContaining(failure.message));
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(RedisRequests.request(this.key, NO_WAIT)));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(Duration.ofSeconds(6)))
			.withMessageContaining(failure.message);
		assertThat(lease.isValid()).isTrue();
		assertThat(lease.release().toCompletableFuture()).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class);
		await().until(() -> holders(2, "free:" + this.key) == 0);
	}

	@Test
	void nodeThatIsBackCountsAgain() throws Exception {
		connect();
		this.quorum.server(0).kill();
		release(acquired(this.backend));
		this.quorum.server(0).restart();
		this.quorum.server(1).kill();
		await().atMost(LONG).ignoreExceptions().until(() -> release(acquired(this.backend)));
	}

	@Test
	void nodesThatAreDownAtTheStartCountOnceTheyAreUp() throws Exception {
		this.quorum.servers().forEach(RedisServer::kill);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> acquired(this.backend));
		this.quorum.servers().forEach(RedisServer::restart);
		await().atMost(LONG).ignoreExceptions().until(() -> release(acquired(this.backend)));
	}

	@Test
	void minorityIsGivenBack() throws Exception {
		connect();
		takeForSomebodyElse(0);
		takeForSomebodyElse(1);
		assertThat(this.backend.acquire(RedisRequests.request(this.key, Duration.ofMillis(50)))).isNull();
		await().until(() -> holders(2, this.key) == 0);
	}

	@Test
	void firstNodeDecidesWhenSeveralShareTheVotes() throws Exception {
		connect();
		takeForSomebodyElse(1, "a");
		takeForSomebodyElse(2, "b");
		assertThat(this.backend.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
		await().atMost(LONG).ignoreExceptions().until(this::isGrantedInOneAttemptWhenTheThirdNodeIsFree);
	}

	/**
	 * Not if that takes longer than the attempt lasts.
	 */
	private boolean isGrantedInOneAttemptWhenTheThirdNodeIsFree() throws Exception {
		takeForSomebodyElse(2, "b");
		await().until(() -> holders(0, this.key) == 0);
		long before = scripts(2);
		FutureTask<@Nullable LockLease> attempt = start(
				() -> this.backend.acquire(RedisRequests.request(this.key, NO_WAIT)));
		// So that the first answer of this node was a refusal
		await().pollInterval(Duration.ofMillis(5)).until(() -> attempt.isDone() || scripts(2) > before + 2);
		this.quorum.server(2).command("DEL", LockKey.of(this.key).lock());
		LockLease lease = attempt.get();
		return lease != null && release(lease);
	}

	@Test
	void lockThatOnlyAMinorityHoldsForSomebodyElseIsGranted() throws Exception {
		connect();
		takeForSomebodyElse(1);
		LockLease lease = acquired(this.backend);
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(release(lease)).isTrue();
		assertThat(this.quorum.server(1).command("HGET", LockKey.of(this.key).lock(), "owner"))
			.isEqualTo("somebody else");
	}

	/**
	 * Nobody knows whether the two nodes have granted the lock.
	 */
	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	@Tag("F23")
	void nodesWithoutAnswerGiveTheLockBack(Fault fault) throws Exception {
		connect();
		this.quorum.proxy(0).inject(fault);
		this.quorum.proxy(1).inject(fault);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(RedisRequests.request(this.key, NO_WAIT)));
		this.quorum.proxy(0).inject(Fault.NONE);
		this.quorum.proxy(1).inject(Fault.NONE);
		connect();
		await().atMost(LONG.dividedBy(2)).until(() -> holders() == 0);
		await().during(Duration.ofMillis(300)).until(() -> holders() == 0);
	}

	/**
	 * Long before its lease would run out.
	 */
	@Test
	@Tag("F20")
	@Tag("F23")
	void nodeThatAnswersAfterTheReleaseGivesTheLockBack() throws Exception {
		connect();
		this.quorum.proxy(0).inject(Fault.HOLD_REQUESTS);
		LockLease lease = acquired(this.backend);
		assertThat(release(lease)).isTrue();
		this.quorum.proxy(0).inject(Fault.NONE);
		connect();
		await().atMost(LONG.dividedBy(2)).until(() -> holders() == 0);
		await().during(Duration.ofMillis(300)).until(() -> holders() == 0);
	}

	@Test
	@Tag("F79")
	void nodeThatCannotBeReachedAtTheReleaseGivesTheLockBackLater() throws Exception {
		connect();
		LockLease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		this.quorum.proxy(0).inject(Fault.REFUSE);
		this.quorum.proxy(0).reset();
		assertThat(release(lease)).isTrue();
		await().until(() -> holders() == 1);
		this.quorum.proxy(0).inject(Fault.NONE);
		await().atMost(PATIENCE).until(() -> holders() == 0);
	}

	@Test
	@Tag("F16")
	void interruptedRequestIsGivenBack() throws Exception {
		connect();
		this.quorum.proxy(0).inject(Fault.HOLD_REPLIES);
		this.quorum.proxy(1).inject(Fault.HOLD_REPLIES);
		FutureTask<@Nullable LockLease> acquisition = new FutureTask<>(
				() -> this.backend.acquire(RedisRequests.request(this.key, LONG)));
		Thread thread = new Thread(acquisition);
		thread.start();
		await().until(() -> holders() == 3);
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(InterruptedException.class);
		await().atMost(LONG.dividedBy(2)).until(() -> holders() == 0);
	}

	@Test
	void requestsToASilentNodeDoNotPileUp() throws Exception {
		connect();
		this.quorum.proxy(0).inject(Fault.BLACKHOLE);
		RedisLocks silent = this.nodes.locks(LONG).get(0);
		for (int i = 0; i < 10_000; i++) {
			silent.acquire(List.of(RedisRequests.request(this.key, NO_WAIT)));
		}
		assertThat(silent.acquire(List.of(RedisRequests.request(this.key, NO_WAIT)))).failsWithin(LONG.dividedBy(2))
			.withThrowableThat()
			.withMessageContaining("exceeded");
		assertThat(release(acquired(this.backend))).isTrue();
	}

	@Test
	void lockOfAMajorityIsLostWhenTwoNodesHaveForgottenIt() throws Exception {
		connect();
		LockLease lease = acquired(this.backend);
		await().until(() -> holders() == 3);
		this.quorum.server(0).command("FLUSHALL");
		assertThat(lease.renew(LONG)).isTrue();
		this.quorum.server(1).command("FLUSHALL");
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(release(lease)).isFalse();
		await().until(() -> holders() == 0);
	}

	@Test
	void slowMajorityGrantsNothingThatIsOver() throws Exception {
		connect();
		this.quorum.proxy(0).delay(Duration.ofMillis(200));
		this.quorum.proxy(1).delay(Duration.ofMillis(200));
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(RedisRequests.request(this.key, LONG, Duration.ofMillis(300))))
			.withMessageContaining("only when its lease was over");
		await().until(() -> holders() == 0);
	}

	/**
	 * The node with the highest epoch takes part in the first grant, but not in the
	 * second.
	 */
	@Test
	void epochIsRaisedOnAMajority() throws Exception {
		connect();
		long ahead = System.currentTimeMillis() * 1000 + Duration.ofDays(2).toSeconds() * 1_000_000;
		this.quorum.server(0).command("HSET", LockKey.of(this.key).counter(), "epoch", String.valueOf(ahead));
		this.quorum.server(2).kill();
		LockLease first = acquired(this.backend);
		assertThat(first.epoch()).isEqualTo(ahead + 1);
		assertThat(release(first)).isTrue();
		this.quorum.server(2).restart();
		connect();
		this.quorum.server(0).kill();
		LockLease second = acquired(this.backend);
		assertThat(second.epoch()).isGreaterThan(first.epoch());
		assertThat(release(second)).isTrue();
	}

	/**
	 * Connections and scripts are there from the first use, which must not meet the
	 * fault.
	 */
	private void connect() throws Exception {
		for (RedisQuorumNodes all : List.of(this.nodes, this.otherNodes)) {
			await().atMost(LONG).ignoreExceptions().until(() -> all.info("server").size() == 3);
		}
		await().atMost(LONG).ignoreExceptions().until(() -> {
			for (RedisQuorumLockBackend client : List.of(this.backend, this.other)) {
				LockLease lease = client.acquire(RedisRequests.request("connect:" + this.key, NO_WAIT));
				assertThat(lease).isNotNull();
				assertThat(release(lease)).isTrue();
			}
			return knows(LockScript.ACQUIRE) && knows(LockScript.RELEASE);
		});
	}

	/**
	 * A majority is enough for a lock; the last node may not be sent a script that it
	 * does not know when the lock is released first.
	 */
	private boolean knows(LockScript script) {
		return IntStream.range(0, 3)
			.allMatch((server) -> List.of(1L)
				.equals(this.quorum.server(server).command("SCRIPT", "EXISTS", script.text(2).digest())));
	}

	private LockLease acquired(RedisQuorumLockBackend backend) throws InterruptedException {
		LockLease lease = backend.acquire(RedisRequests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	private static boolean release(LockLease lease) throws Exception {
		return lease.release().toCompletableFuture().get();
	}

	private void takeForSomebodyElse(int server) {
		takeForSomebodyElse(server, "somebody else");
	}

	private void takeForSomebodyElse(int server, String owner) {
		this.quorum.server(server).command("HSET", LockKey.of(this.key).lock(), "owner", owner, "epoch", "1");
	}

	private long holders() {
		return holders(0, this.key) + holders(1, this.key) + holders(2, this.key);
	}

	private long holders(int server, String key) {
		return (Long) this.quorum.server(server).command("EXISTS", LockKey.of(key).lock());
	}

	private long scripts(int server) {
		return Long.parseLong(this.quorum.server(server).info("cmdstat_evalsha").replaceAll("calls=(\\d+),.*", "$1"));
	}

	private <T extends @Nullable Object> FutureTask<T> start(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		new Thread(task).start();
		return task;
	}

	enum Failure {

		KILLED("2 of 3 Redis nodes failed") {

			@Override
			void of(RedisQuorum quorum, int node) {
				quorum.server(node).kill();
			}

		},

		CUT_OFF("only 1 of 3 Redis nodes answered in time") {

			@Override
			void of(RedisQuorum quorum, int node) {
				quorum.proxy(node).inject(Fault.BLACKHOLE);
			}

		};

		private final String message;

		Failure(String message) {
			this.message = message;
		}

		abstract void of(RedisQuorum quorum, int node);

	}

}
