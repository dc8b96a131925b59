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

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.util.ReflectionTestUtils;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.handover.HandoverLockBackend;
import io.github.holdfast.support.KeyedPermits;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What happens to locks when something is wrong with Redis, or with its data.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
class RedisLockFaultTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Less than a lease: what is held by mistake does not run out in this time. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisServer server = RedisServer.start();

	private final RedisConnectionFactory connections = RedisConnections.lettuce(this.server.port());

	private final RedisLockBackend backend = new RedisLockBackend(() -> this.connections);

	private String key = "";

	@BeforeEach
	void newKey() {
		this.key = "fault:" + UUID.randomUUID();
		this.server.command("FLUSHALL");
	}

	@AfterAll
	void close() {
		RedisConnections.close(this.connections);
		this.server.close();
	}

	// Owners

	@Test
	@Tag("F05")
	void reentrantCallKeepsItsLock() {
		LockTemplate template = template(this.backend);
		template.run(this.key, () -> {
			Object owner = owner();
			template.run(this.key, () -> assertThat(owner()).isEqualTo(owner));
			assertThat(owner()).isEqualTo(owner);
		});
		assertThat(isHeld()).isFalse();
	}

	@Test
	@Tag("F05")
	void eachAcquisitionHasAnOwnerOfItsOwn() {
		LockTemplate template = template(this.backend);
		Object first = template.execute(this.key, this::owner);
		Object second = template.execute(this.key, this::owner);
		assertThat(first).isNotEqualTo(second);
	}

	@Test
	@Tag("F05")
	void lockOfAFailedReleaseIsNotEnteredAgainByItsThread() {
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			RedisConnectionFactory jedis = RedisConnections.jedis(proxy.port());
			try {
				LockTemplate template = template(new RedisLockBackend(() -> jedis));
				Object owner = template.execute(this.key, () -> {
					proxy.inject(FaultProxy.Fault.BLACKHOLE);
					return owner();
				});
				assertThat(owner()).isEqualTo(owner);
				proxy.reset();
				proxy.inject(FaultProxy.Fault.NONE);
				assertThat(template.withWaitTime(LONG).<Object, RuntimeException>execute(this.key, this::owner))
					.as("another acquisition, when a later attempt has released the lock")
					.isNotEqualTo(owner);
			}
			finally {
				RedisConnections.close(jedis);
			}
		}
	}

	@Test
	@Tag("F40")
	void renewalNeverBringsAReleasedLockBack() {
		for (int i = 0; i < 3000; i++) {
			LockLease lease = acquired("race:" + i);
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
		acquired(this.key);
		CompletableFuture<LockLease> waiter = waiter();
		awaitSubscribers(1);
		this.server.command("DEL", LockKey.of(this.key).lock());
		assertThat(waiter.join().isValid()).isTrue();
	}

	@Test
	@Tag("F21")
	void waiterWhoseSubscriptionIsKilledStillGetsTheLock() {
		LockLease lease = acquired(this.key);
		CompletableFuture<LockLease> waiter = waiter();
		awaitSubscribers(1);
		for (int i = 0; i < 5; i++) {
			assertThat(this.server.command("CLIENT", "KILL", "TYPE", "pubsub")).isEqualTo(1L);
			awaitSubscribers(1);
		}
		join(lease.release());
		assertThat(waiter.join().isValid()).isTrue();
	}

	@Test
	@Tag("F21")
	void waiterWhoMayNotSubscribeStillGetsTheLock() {
		RedisUser.SPRING.create(this.server, "fault:");
		this.server.command("ACL", "SETUSER", RedisUser.NAME, "-subscribe");
		RedisConnectionFactory restricted = RedisConnections.lettuce(this.server.port(), RedisUser.NAME,
				RedisUser.PASSWORD);
		try {
			LockLease lease = acquired(this.key);
			CompletableFuture<LockLease> waiter = waiter(new RedisLockBackend(() -> restricted));
			await().during(Duration.ofMillis(200)).until(() -> !waiter.isDone());
			join(lease.release());
			assertThat(waiter.join().isValid()).isTrue();
		}
		finally {
			RedisConnections.close(restricted);
		}
	}

	@Test
	@Tag("F16")
	void interruptedWaiterLeavesNoSubscription() throws Exception {
		LockLease lease = acquired(this.key);
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
		assertThat(owner()).isEqualTo(lease.owner());
		join(lease.release());
		assertThat(isHeld()).isFalse();
	}

	// Data

	@ParameterizedTest
	@MethodSource
	@Tag("F33")
	void holderNoticesThatItsLockWasRemoved(String... command) {
		LockLease lease = acquired(this.key);
		this.server.command(Stream.of(command)
			.map((word) -> word.equals("LOCK") ? LockKey.of(this.key).lock() : word)
			.toArray(String[]::new));
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(join(lease.release())).isFalse();
		assertThat(owner()).isNotEqualTo(lease.owner());
	}

	static Stream<Arguments> holderNoticesThatItsLockWasRemoved() {
		return Stream.of(arguments((Object) new String[] { "FLUSHALL" }),
				arguments((Object) new String[] { "DEL", "LOCK" }),
				arguments((Object) new String[] { "HSET", "LOCK", "owner", "somebody else" }));
	}

	@Test
	@Tag("F33")
	void epochRisesAlthoughTheCounterIsGone() {
		LockLease lease = acquired(this.key);
		this.server.command("FLUSHALL");
		assertThat(acquired(this.key).epoch()).isGreaterThan(lease.epoch());
	}

	@Test
	void epochRisesAlthoughTheCounterIsAheadOfTheClock() {
		LockLease lease = acquired(this.key);
		long ahead = lease.epoch() + 1_000_000_000_000L;
		join(lease.release());
		this.server.command("HSET", LockKey.of(this.key).counter(), "epoch", Long.toString(ahead));
		assertThat(acquired(this.key).epoch()).isEqualTo(ahead + 1);
		assertThat(this.server.command("HGET", LockKey.of(this.key).counter(), "epoch"))
			.isEqualTo(Long.toString(ahead + 1));
	}

	@Test
	@Tag("F32")
	void fullRedisGrantsNothingButKeepsAndFreesWhatIsHeld() {
		LockLease lease = acquired(this.key);
		this.server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.backend.acquire(RedisRequests.request("full:" + this.key, LONG)))
				.havingCause()
				.withMessageContaining("OOM");
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
	@Tag("F36")
	void lockOfAnotherLibraryUnderTheSameKeyIsNotTouched() {
		this.server.command("HSET", this.key, "client:1", "1");
		join(acquired(this.key).release());
		assertThat(this.server.command("HGETALL", this.key)).isEqualTo(List.of("client:1", "1"));
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

	// Restarts

	@Test
	@Tag("F17")
	void heldLockSurvivesARestartWithItsData() {
		try (RedisServer persistent = RedisServer.startPersistent()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(persistent.port());
			try {
				LockLease lease = acquired(new RedisLockBackend(() -> connections), this.key);
				persistent.restart();
				await().atMost(PATIENCE).ignoreException(LockBackendException.class).until(() -> lease.renew(LONG));
				assertThat(persistent.command("HGET", LockKey.of(this.key).lock(), "owner")).isEqualTo(lease.owner());
				assertThat(join(lease.release())).isTrue();
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	@Test
	@Tag("F17")
	void heldLockIsLostByARestartWithoutData() {
		try (RedisServer forgetful = RedisServer.start()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(forgetful.port());
			try {
				RedisLockBackend backend = new RedisLockBackend(() -> connections);
				LockLease lease = acquired(backend, this.key);
				forgetful.restart();
				await().atMost(PATIENCE).ignoreException(LockBackendException.class).until(() -> !lease.renew(LONG));
				assertThat(acquired(backend, this.key).epoch()).isGreaterThan(lease.epoch());
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	@Test
	void scriptsThatRedisHasForgottenAreSentAgain() {
		LockLease lease = acquired(this.key);
		this.server.command("SCRIPT", "FLUSH");
		assertThat(lease.renew(LONG)).isTrue();
		this.server.command("SCRIPT", "FLUSH");
		await().untilAsserted(() -> assertThat(this.backend.holder(this.key)).extracting(LockHolder::text)
			.asString()
			.contains("held by test"));
		this.server.command("SCRIPT", "FLUSH");
		assertThat(join(lease.release())).isTrue();
	}

	// Round trips

	@Test
	void severalFreeKeysTakeOneRoundTrip() {
		LockTemplate template = template(this.backend);
		template.run(this.key, () -> {
		});
		long before = scripts();
		template.execute(List.of("b" + this.key, "a" + this.key, "c" + this.key), () -> {
			assertThat(scripts()).isEqualTo(before + 1);
			return assertThat((List<?>) this.server.command("KEYS", "{?" + this.key + "}")).hasSize(3);
		});
		assertThat(scripts()).isEqualTo(before + 4);
		assertThat((List<?>) this.server.command("KEYS", "{?" + this.key + "}")).isEmpty();
	}

	@Test
	void severalKeysAreWaitedForOneByOne() {
		LockTemplate template = template(this.backend).withWaitTime(LONG);
		LockLease lease = acquired("b" + this.key);
		CompletableFuture<String> call = CompletableFuture.supplyAsync(
				() -> template.execute(List.of("b" + this.key, "a" + this.key), () -> "done"),
				(task) -> new Thread(task).start());
		await().until(() -> this.server.command("EXISTS", LockKey.of("a" + this.key).lock()).equals(1L));
		join(lease.release());
		assertThat(call.join()).isEqualTo("done");
		assertThat((List<?>) this.server.command("KEYS", "{?" + this.key + "}")).isEmpty();
	}

	@Test
	void severalKeysAreTakenAllOrNone() {
		acquired("b" + this.key);
		assertThat(this.backend.acquireAll(List.of(RedisRequests.request("a" + this.key, NO_WAIT),
				RedisRequests.request("b" + this.key, NO_WAIT))))
			.isNull();
		assertThat(this.server.command("EXISTS", LockKey.of("a" + this.key).lock())).isEqualTo(0L);
	}

	private long scripts() {
		return Stream.of(this.server.info("cmdstat_evalsha").split(","))
			.filter((part) -> part.startsWith("calls="))
			.mapToLong((part) -> Long.parseLong(part.substring("calls=".length())))
			.sum();
	}

	// What is left

	@Test
	void manyKeysLeaveNothingInRedisAndInTheJvm() throws Exception {
		leaveNothing(2000);
	}

	@Test
	@Tag("long")
	void tenThousandKeysLeaveNothingInRedisAndInTheJvm() throws Exception {
		leaveNothing(10_000);
	}

	private void leaveNothing(int keys) throws Exception {
		// Longer than a release may take
		Duration leaseTime = Duration.ofSeconds(6);
		RedisLockBackend backend = new RedisLockBackend(() -> this.connections, Duration.ofMillis(1));
		HandoverLockBackend handover = new HandoverLockBackend(backend);
		int threads = 0;
		for (int i = 0; i < keys; i++) {
			LockLease lease = handover.acquire(RedisRequests.request("many:" + i, LONG, leaseTime));
			assertThat(lease).isNotNull();
			if (i % 100 == 0) {
				assertThat(backend.acquire(RedisRequests.request("many:" + i, Duration.ofMillis(1)))).isNull();
			}
			assertThat(join(lease.release())).isTrue();
			threads = (i == 200) ? Thread.activeCount() : threads;
		}
		assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 5);
		KeyedPermits<?> queue = (KeyedPermits<?>) ReflectionTestUtils.getField(handover, "queue");
		assertThat(queue).isNotNull();
		assertThat(queue.size()).isZero();
		await().until(() -> this.server.command("PUBSUB", "CHANNELS", "{many:*").equals(List.of()));
		assertThat(ReflectionTestUtils.getField(backend.driver(), "messages"))
			.isInstanceOfSatisfying(ReleaseMessages.class, (messages) -> assertThat(messages.size()).isZero());
		await().atMost(LONG).until(() -> this.server.command("DBSIZE").equals(0L));
	}

	@Test
	void counterOutlivesTheLease() {
		join(acquired(this.key).release());
		assertThat((Long) this.server.command("PTTL", LockKey.of(this.key).counter()))
			.isGreaterThan(Duration.ofHours(23).toMillis());
	}

	private static LockTemplate template(RedisLockBackend backend) {
		return new LockTemplate(() -> new HandoverLockBackend(backend), List::of).withKeyPrefix("");
	}

	private LockLease acquired(String key) {
		return acquired(this.backend, key);
	}

	private static LockLease acquired(RedisLockBackend backend, String key) {
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
	private CompletableFuture<LockLease> waiter() {
		return waiter(this.backend);
	}

	private CompletableFuture<LockLease> waiter(RedisLockBackend backend) {
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

	private Object owner() {
		return this.server.command("HGET", LockKey.of(this.key).lock(), "owner");
	}

}
