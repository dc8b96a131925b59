package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What happens to locks when something is wrong with Redis, or with its data, whichever
 * client it is reached through.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RedisLockFaultTests extends LockFaultContractTests {

	static final Duration LONG = Duration.ofSeconds(60);

	final RedisServer server = RedisServer.start();

	private final RedisTestStore redis = open(this.server);

	abstract RedisTestStore open(RedisServer server);

	/**
	 * Another client.
	 */
	abstract RedisNode node(int port, String user, String password);

	@Override
	protected TestStore open() {
		return this.redis;
	}

	@Override
	protected void close(TestStore store) {
		// Which has one for all tests
	}

	@BeforeEach
	void clear() {
		this.server.command("FLUSHALL");
	}

	@AfterAll
	void close() {
		this.redis.close();
		this.server.close();
	}

	final RedisLockBackend backend() {
		return (RedisLockBackend) store().near();
	}

	// Messages

	@Test
	@Tag("F21")
	void waiterWhoseSubscriptionIsKilledStillGetsTheLock() throws Exception {
		LockLease lease = acquired(store().far());
		FutureTask<@Nullable LockLease> waiter = waiter();
		for (int i = 0; i < 3; i++) {
			assertThat((Long) this.server.command("CLIENT", "KILL", "TYPE", "pubsub")).isPositive();
			awaitSubscribers(1);
		}
		assertThat(release(lease).get()).isTrue();
		assertThat(waiter.get(LONG.toSeconds() / 2, TimeUnit.SECONDS)).isNotNull();
	}

	@Test
	@Tag("F21")
	void waiterWhoMayNotSubscribeStillGetsTheLock() throws Exception {
		this.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
		try (RedisNode deaf = node(this.server.port(), "deaf", "pw")) {
			LockLease lease = acquired(store().far());
			FutureTask<@Nullable LockLease> waiter = start(() -> deaf.backend().acquire(request(LONG)));
			await().during(Duration.ofMillis(200)).until(() -> !waiter.isDone());
			assertThat(release(lease).get()).isTrue();
			assertThat(waiter.get(LONG.toSeconds() / 2, TimeUnit.SECONDS)).isNotNull();
		}
	}

	// Data

	@ParameterizedTest
	@MethodSource
	@Tag("F33")
	void holderNoticesThatTheDataOfItsLockAreGoneOrThoseOfAnother(List<String> command) throws Exception {
		LockLease lease = acquired(backend());
		this.server.command(command.stream()
			.map((word) -> word.equals("LOCK") ? LockKey.of(this.key).lock() : word)
			.toArray(String[]::new));
		Object data = this.server.command("HGETALL", LockKey.of(this.key).lock());
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(release(lease).get()).isFalse();
		assertThat(this.server.command("HGETALL", LockKey.of(this.key).lock())).isEqualTo(data);
	}

	static Stream<Arguments> holderNoticesThatTheDataOfItsLockAreGoneOrThoseOfAnother() {
		return Stream.of(arguments(List.of("FLUSHALL")), arguments(List.of("HSET", "LOCK", "owner", "somebody else")));
	}

	@Test
	@Tag("F33")
	void epochRisesAlthoughTheCounterIsGone() throws Exception {
		LockLease lease = acquired(backend());
		this.server.command("FLUSHALL");
		assertThat(acquired(backend()).epoch()).isGreaterThan(lease.epoch());
	}

	@Test
	void epochRisesAlthoughTheCounterIsAheadOfTheClock() throws Exception {
		LockLease lease = acquired(backend());
		long ahead = lease.epoch() + 1_000_000_000_000L;
		assertThat(release(lease).get()).isTrue();
		this.server.command("HSET", LockKey.of(this.key).counter(), "epoch", Long.toString(ahead));
		assertThat(acquired(backend()).epoch()).isEqualTo(ahead + 1);
		assertThat(this.server.command("HGET", LockKey.of(this.key).counter(), "epoch"))
			.isEqualTo(Long.toString(ahead + 1));
	}

	@Test
	@Tag("F32")
	void fullRedisGrantsNothingButKeepsAndFreesWhatIsHeld() throws Exception {
		LockLease lease = acquired(backend());
		this.server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend().acquire(RedisRequests.request("full:" + this.key, LONG)))
				.havingCause()
				.withMessageContaining("maxmemory");
			assertThat(this.server.command("KEYS", "{full:*")).isEqualTo(List.of());
			assertThat(lease.renew(LONG)).isTrue();
			assertThat(release(lease).get()).isTrue();
		}
		finally {
			this.server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Test
	@Tag("F36")
	void foreignValueIsAnErrorAndIsLeftAlone() throws Exception {
		this.server.command("SET", LockKey.of(this.key).lock(), "foreign");
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend().acquire(request(LONG)))
			.havingCause()
			.withMessageContaining("WRONGTYPE");
		assertThat(this.server.command("GET", LockKey.of(this.key).lock())).isEqualTo("foreign");
	}

	@Test
	@Tag("F36")
	void renewalThatFindsAForeignValueIsAnErrorAndLeavesTheLeaseAsItIs() throws Exception {
		LockLease lease = acquired(backend());
		this.server.command("SET", LockKey.of(this.key).lock(), "foreign");
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(LONG.multipliedBy(2)))
			.withMessageContaining(lease.key())
			.havingCause()
			.withMessageContaining("WRONGTYPE");
		assertThat(lease.isValid()).isTrue();
		assertThat(lease.remaining()).isLessThanOrEqualTo(LONG);
		assertThat(this.server.command("GET", LockKey.of(this.key).lock())).isEqualTo("foreign");
	}

	@Test
	void leaseThatIsNoWholeNumberOfMillisecondsIsNotCutShort() throws Exception {
		Duration leaseTime = Duration.ofSeconds(50).plusNanos(1);
		String commands = this.server.commandsDuring(() -> {
			LockLease lease = backend().acquire(request(NO_WAIT, leaseTime));
			assertThat(lease).isNotNull();
			assertThat(lease.renew(leaseTime)).isTrue();
			return lease;
		});
		assertThat(commands).contains(" 50001,").doesNotContain(" 50000,");
	}

	@Test
	void scriptsThatRedisHasForgottenAreSentAgain() throws Exception {
		LockLease lease = acquired(backend());
		this.server.command("SCRIPT", "FLUSH");
		assertThat(lease.renew(LONG)).isTrue();
		this.server.command("SCRIPT", "FLUSH");
		await().untilAsserted(() -> assertThat(backend().holder(this.key)).extracting(LockHolder::text)
			.asString()
			.contains("held by contract test"));
		this.server.command("SCRIPT", "FLUSH");
		assertThat(release(lease).get()).isTrue();
	}

	@Test
	void counterOutlivesTheLease() throws Exception {
		assertThat(release(acquired(backend())).get()).isTrue();
		assertThat((Long) this.server.command("PTTL", LockKey.of(this.key).counter()))
			.isGreaterThan(Duration.ofHours(23).toMillis());
	}

	@Test
	@Tag("F36")
	void lockOfAnotherLibraryUnderTheSameKeyIsNotTouched() throws Exception {
		this.server.command("HSET", this.key, "client:1", "1");
		assertThat(release(acquired(backend())).get()).isTrue();
		assertThat(this.server.command("HGETALL", this.key)).isEqualTo(List.of("client:1", "1"));
	}

	final void awaitSubscribers(long count) {
		await().atMost(PATIENCE)
			.until(() -> this.server.command("PUBSUB", "NUMSUB", LockKey.of(this.key).channel())
				.toString()
				.endsWith(" " + count + "]"));
	}

}
