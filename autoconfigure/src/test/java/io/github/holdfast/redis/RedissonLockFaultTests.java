package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

import io.github.holdfast.support.Deadline;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.handover.HandoverLockBackend;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What happens to locks when something is wrong with Redis, or with its data.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
class RedissonLockFaultTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Less than a lease: what is held by mistake does not run out in this time. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisServer server = RedisServer.start();

	private final RedissonClient client = RedissonClients.single(this.server.port());

	private final RedisLockBackend backend = RedisLockBackend.redisson(() -> this.client);

	private String key = "";

	@BeforeEach
	void newKey() {
		this.key = "fault:" + UUID.randomUUID();
		this.server.command("FLUSHALL");
	}

	@AfterAll
	void close() {
		RedissonClients.close(this.client);
		this.server.close();
	}

	// Owners

	@Test
	@Tag("F05")
	void reentrantCallKeepsItsLock() {
		LockTemplate template = template(this.backend);
		template.run(this.key, () -> {
			Object lock = lock();
			template.run(this.key, () -> assertThat(lock()).isEqualTo(lock));
			assertThat(lock()).isEqualTo(lock);
		});
		assertThat(isHeld()).isFalse();
	}

	@Test
	@Tag("F05")
	void eachAcquisitionHasAnOwnerOfItsOwn() {
		LockTemplate template = template(this.backend);
		Object first = template.execute(this.key, this::lock);
		Object second = template.execute(this.key, this::lock);
		assertThat(first).isNotEqualTo(second);
	}

	/**
	 * With the id of the thread as holder, Redisson would take this for a re-entry.
	 */
	@Test
	@Tag("F05")
	void lockOfAFailedReleaseIsNotEnteredAgainByItsThread() throws Exception {
		this.server.command("ACL", "SETUSER", "forbidden", "on", ">pw", "~*", "&*", "+@all");
		RedissonClient forbidden = RedissonClients.single(this.server.port(), "forbidden", "pw");
		try {
			RedisLockBackend backend = RedisLockBackend.redisson(() -> forbidden);
			LockLease lease = acquired(backend, this.key);
			this.server.command("ACL", "SETUSER", "forbidden", "-del");
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(lease.release()))
				.withCauseInstanceOf(LockBackendException.class);
			Object lock = lock();
			assertThat(backend.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template(backend).withWaitTime(NO_WAIT).run(this.key, () -> {
				}));
			assertThat(lock()).isEqualTo(lock);
		}
		finally {
			RedissonClients.close(forbidden);
		}
	}

	@Test
	@Tag("F06")
	void lateReleaseDoesNotTouchASuccessor() {
		LockLease lease = acquired(this.backend, this.key);
		this.server.command("DEL", LockKey.of(this.key).lock());
		LockLease successor = acquired(this.backend, this.key);
		Object lock = lock();
		assertThat(join(lease.release())).isFalse();
		assertThat(lock()).isEqualTo(lock);
		assertThat(join(successor.release())).isTrue();
	}

	@Test
	@Tag("F06")
	void lateReleaseReportsALossAlsoWhenTheSuccessorHasLeft() {
		LockLease lease = acquired(this.backend, this.key);
		this.server.command("DEL", LockKey.of(this.key).lock());
		join(acquired(this.backend, this.key).release());
		assertThat(join(lease.release())).isFalse();
	}

	@Test
	@Tag("F40")
	void renewalNeverBringsAReleasedLockBack() {
		for (int i = 0; i < 3000; i++) {
			LockLease lease = acquired(this.backend, "race:" + i);
			CompletableFuture<Boolean> renewal = CompletableFuture.supplyAsync(() -> lease.renew(LONG),
					(task) -> new Thread(task).start());
			assertThat(join(lease.release())).isTrue();
			renewal.join();
		}
		assertThat((List<?>) this.server.command("KEYS", "{race:*")).hasSize(3000)
			.allSatisfy((name) -> assertThat(name.toString()).endsWith(":epoch"));
	}

	// Messages

	@Test
	@Tag("F21")
	void waiterWhoseMessageIsLostStillGetsTheLock() {
		acquired(this.backend, this.key);
		CompletableFuture<LockLease> waiter = waiter(this.backend);
		awaitSubscribers(1);
		this.server.command("DEL", LockKey.of(this.key).lock());
		assertThat(waiter.join().isValid()).isTrue();
	}

	@Test
	@Tag("F21")
	void waiterWhoseSubscriptionIsKilledStillGetsTheLock() {
		LockLease lease = acquired(this.backend, this.key);
		CompletableFuture<LockLease> waiter = waiter(this.backend);
		for (int i = 0; i < 3; i++) {
			awaitSubscribers(1);
			this.server.command("CLIENT", "KILL", "TYPE", "pubsub");
		}
		join(lease.release());
		assertThat(waiter.join().isValid()).isTrue();
	}

	@Test
	@Tag("F21")
	void waiterWhoMayNotSubscribeStillGetsTheLock() {
		this.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
		RedissonClient deaf = RedissonClients.single(this.server.port(), "deaf", "pw");
		try {
			LockLease lease = acquired(this.backend, this.key);
			CompletableFuture<LockLease> waiter = waiter(RedisLockBackend.redisson(() -> deaf));
			await().during(Duration.ofMillis(200)).until(() -> !waiter.isDone());
			join(lease.release());
			assertThat(waiter.join().isValid()).isTrue();
		}
		finally {
			RedissonClients.close(deaf);
		}
	}

	@Test
	@Tag("F16")
	void interruptedWaiterLeavesNoSubscription() throws Exception {
		LockLease lease = acquired(this.backend, this.key);
		CompletableFuture<Throwable> outcome = new CompletableFuture<>();
		Thread waiter = new Thread(() -> {
			try {
				this.backend.acquire(RedisRequests.request(this.key, LONG));
			}
			catch (Throwable ex) {
				outcome.complete(ex);
			}
		});
		waiter.start();
		awaitSubscribers(1);
		waiter.interrupt();
		assertThat(outcome.join()).isInstanceOf(InterruptedException.class);
		awaitSubscribers(0);
		join(lease.release());
		assertThat(isHeld()).isFalse();
	}

	// Data

	@ParameterizedTest
	@MethodSource
	@Tag("F33")
	void holderNoticesThatItsLockWasRemoved(List<String> command) {
		LockLease lease = acquired(this.backend, this.key);
		this.server.command(command.stream()
			.map((word) -> word.equals("LOCK") ? LockKey.of(this.key).lock() : word)
			.toArray(String[]::new));
		Object lock = lock();
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(join(lease.release())).isFalse();
		assertThat(lock()).isEqualTo(lock);
	}

	static Stream<Arguments> holderNoticesThatItsLockWasRemoved() {
		return Stream.of(arguments(List.of("FLUSHALL")), arguments(List.of("DEL", "LOCK")), arguments(List.of("EVAL",
				"redis.call('del', KEYS[1]) redis.call('hset', KEYS[1], 'owner', 'other')", "1", "LOCK")));
	}

	@Test
	@Tag("F33")
	void epochRisesAlthoughTheCounterIsGone() {
		LockLease lease = acquired(this.backend, this.key);
		this.server.command("FLUSHALL");
		assertThat(acquired(this.backend, this.key).epoch()).isGreaterThan(lease.epoch());
	}

	@Test
	void epochRisesAlthoughTheCounterIsAheadOfTheClock() {
		LockLease lease = acquired(this.backend, this.key);
		long ahead = lease.epoch() + 1_000_000_000_000L;
		join(lease.release());
		this.server.command("HSET", LockKey.of(this.key).counter(), "epoch", Long.toString(ahead));
		assertThat(acquired(this.backend, this.key).epoch()).isEqualTo(ahead + 1);
		assertThat(this.server.command("HGET", LockKey.of(this.key).counter(), "epoch"))
			.isEqualTo(Long.toString(ahead + 1));
	}

	@Test
	@Tag("F20")
	void releaseThatRedissonSendsAgainIsNoLoss() throws Exception {
		try (RedisLocks locks = new RedisLocks(() -> new RedissonDriver(this.client), LONG)) {
			LockRequest request = RedisRequests.request(this.key, NO_WAIT);
			locks.acquire(List.of(request)).join();
			assertThat(RedisLocks.isYes(locks.release(request, Deadline.after(LONG)).join())).isTrue();
			assertThat(RedisLocks.isYes(locks.release(request, Deadline.after(LONG)).join())).isTrue();
		}
	}

	@Test
	@Tag("F32")
	void fullRedisGrantsNothingButKeepsAndFreesWhatIsHeld() {
		LockLease lease = acquired(this.backend, this.key);
		this.server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.backend.acquire(RedisRequests.request("full:" + this.key, LONG)))
				.havingCause()
				.withMessageContaining("maxmemory");
			assertThat(this.server.command("KEYS", "{full:*")).isEqualTo(List.of());
			assertThat(lease.renew(LONG)).isTrue();
			assertThat(join(lease.release())).isTrue();
		}
		finally {
			this.server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Test
	@Tag("F36")
	void foreignValueIsAnErrorAndIsLeftAlone() {
		this.server.command("SET", LockKey.of(this.key).lock(), "foreign");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(RedisRequests.request(this.key, LONG)))
			.havingCause()
			.withMessageContaining("WRONGTYPE");
		assertThat(this.server.command("GET", LockKey.of(this.key).lock())).isEqualTo("foreign");
	}

	@Test
	void scriptsThatRedisHasForgottenAreSentAgain() {
		LockLease lease = acquired(this.backend, this.key);
		this.server.command("SCRIPT", "FLUSH");
		assertThat(lease.renew(LONG)).isTrue();
		this.server.command("SCRIPT", "FLUSH");
		await().untilAsserted(() -> assertThat(this.backend.holder(this.key)).extracting(LockHolder::text)
			.asString()
			.contains("held by test"));
		this.server.command("SCRIPT", "FLUSH");
		assertThat(join(lease.release())).isTrue();
		assertThat(this.backend.holder(this.key)).isNull();
	}

	@Test
	void clientThatWasShutDownIsAFailureOfTheStore() {
		RedissonClient closed = RedissonClients.single(this.server.port());
		LockLease lease = acquired(RedisLockBackend.redisson(() -> closed), this.key);
		RedissonClients.close(closed);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(
				() -> RedisLockBackend.redisson(() -> closed).acquire(RedisRequests.request(this.key, NO_WAIT)));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(LONG));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(lease.release()))
			.withCauseInstanceOf(LockBackendException.class);
	}

	@Test
	void leaseThatIsNoWholeNumberOfMillisecondsIsNotCutShort() throws Exception {
		Duration leaseTime = Duration.ofSeconds(50).plusNanos(1);
		String commands = this.server.commandsDuring(() -> {
			LockLease lease = this.backend.acquire(RedisRequests.request(this.key, NO_WAIT, leaseTime));
			assertThat(lease).isNotNull();
			assertThat(lease.renew(leaseTime)).isTrue();
			return lease;
		});
		assertThat(commands).contains(" 50001,").doesNotContain(" 50000,");
	}

	// What is left

	@Test
	void manyKeysLeaveNothingInRedis() throws Exception {
		// Longer than a release may take
		Duration leaseTime = Duration.ofSeconds(6);
		RedisLockBackend backend = RedisLockBackend.redisson(() -> this.client, Duration.ofMillis(1));
		int threads = 0;
		for (int i = 0; i < 2000; i++) {
			LockLease lease = backend.acquire(RedisRequests.request("many:" + i, LONG, leaseTime));
			assertThat(lease).isNotNull();
			if (i % 100 == 0) {
				assertThat(backend.acquire(RedisRequests.fair("many:" + i, Duration.ofMillis(1)))).isNull();
			}
			assertThat(join(lease.release())).isTrue();
			threads = (i == 200) ? Thread.activeCount() : threads;
		}
		assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 5);
		await().until(() -> this.server.command("PUBSUB", "CHANNELS", "{many:*").equals(List.of()));
		await().atMost(LONG).until(() -> this.server.command("DBSIZE").equals(0L));
	}

	@Test
	void counterOutlivesTheLease() {
		join(acquired(this.backend, this.key).release());
		assertThat((Long) this.server.command("PTTL", LockKey.of(this.key).counter()))
			.isGreaterThan(Duration.ofHours(23).toMillis());
	}

	// Replicas

	/**
	 * What Redisson does if it knows of replicas. One of several that answers is enough
	 * for it, and another one may become the master.
	 */
	@Test
	void lockIsRefusedWhenNoReplicaOfTheClientAnswers() {
		try (RedisServer replica = newReplica()) {
			RedissonClient client = RedissonClients.create((config) -> config.setSlavesSyncTimeout(300)
				.useMasterSlaveServers()
				.setMasterAddress("redis://127.0.0.1:" + this.server.port())
				.addSlaveAddress("redis://127.0.0.1:" + replica.port())
				.setRetryAttempts(0));
			try {
				RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
				await().atMost(LONG)
					.ignoreExceptions()
					.until(() -> join(acquired(backend, "warm:" + this.key).release()));
				suspend(replica);
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(RedisRequests.request(this.key, LONG)))
					.havingCause()
					.withMessageContaining("None of slaves were synced");
				await().atMost(PATIENCE).until(() -> !isHeld());
				// A client of the master alone does not ask
				assertThat(acquired(this.backend, this.key).isValid()).isTrue();
			}
			finally {
				resume(replica);
				RedissonClients.close(client);
			}
		}
	}

	private RedisServer newReplica() {
		RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", String.valueOf(this.server.port()));
		await().atMost(LONG).until(() -> replica.info("master_link_status").equals("up"));
		return replica;
	}

	private static void suspend(RedisServer server) {
		signal(server, "STOP");
	}

	private static void resume(RedisServer server) {
		signal(server, "CONT");
	}

	private static void signal(RedisServer server, String signal) {
		try {
			int exit = new ProcessBuilder("kill", "-" + signal, String.valueOf(server.pid())).start().waitFor();
			assertThat(exit).isZero();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static LockTemplate template(LockBackend backend) {
		return new LockTemplate(() -> new HandoverLockBackend(backend), List::of).withKeyPrefix("");
	}

	private static LockLease acquired(LockBackend backend, String key) {
		try {
			LockLease lease = backend.acquire(RedisRequests.request(key, PATIENCE));
			assertThat(lease).isNotNull();
			return lease;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A waiter that neither hears nor asks would only get the lock in the last attempt,
	 * at the end of its wait time.
	 */
	private CompletableFuture<LockLease> waiter(LockBackend backend) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return backend.acquire(RedisRequests.request(this.key, LONG));
			}
			catch (InterruptedException ex) {
				throw new CompletionException(ex);
			}
		}, (task) -> new Thread(task).start()).orTimeout(LONG.toSeconds() / 2, TimeUnit.SECONDS);
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

	private void awaitSubscribers(long count) {
		await().atMost(PATIENCE)
			.until(() -> this.server.command("PUBSUB", "NUMSUB", LockKey.of(this.key).channel())
				.toString()
				.endsWith(" " + count + "]"));
	}

	private boolean isHeld() {
		return this.server.command("EXISTS", LockKey.of(this.key).lock()).equals(1L);
	}

	private Object lock() {
		return this.server.command("HGETALL", LockKey.of(this.key).lock());
	}

}
