package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Waiters whom no message reaches ask by themselves. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
@Tag("long")
class DeafWaitersTests {

	private static final Duration LONG = Requests.LONG;

	private final String key = "deaf:" + UUID.randomUUID();

	@AutoClose
	private final RedisServer server = RedisServer.start();

	@ParameterizedTest
	@EnumSource
	void userWhoMayNotListenWaitsForAllLocks(RedisClientType client, CapturedOutput output) throws Exception {
		this.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
		try (RedisNode deaf = client.connect(this.server.port(), "deaf", "pw")) {
			assertWaitersAreServed(deaf);
			awaitOneWarning(output);
		}
	}

	/** Lettuce knows no server to listen to. */
	@Test
	void clientThatCannotListenWaitsForAllLocks(CapturedOutput output) throws Exception {
		try (RedisNode deaf = RedisNode.lettuce(RedisConnections.masterReplica(this.server.port()))) {
			assertWaitersAreServed(deaf);
			awaitOneWarning(output);
		}
	}

	/** The lock itself has been freed before Redis refuses to tell of it. */
	@ParameterizedTest
	@EnumSource
	void releaseThatMayNotBeToldFreesTheLockAndIsAFailure(RedisClientType client) throws Exception {
		createUserWhoMayNotTell();
		try (RedisNode mute = client.connect(this.server.port(), "mute", "pw")) {
			LockBackend.Lease lease = mute.acquired(Requests.request(this.key, Requests.NO_WAIT));
			FutureTask<LockBackend.@Nullable Lease> waiter = mute.waiter(Requests.request(this.key, LONG));
			await().during(Duration.ofMillis(200)).until(() -> !waiter.isDone());
			assertThat(lease.release()).failsWithin(LONG)
				.withThrowableThat()
				.withCauseInstanceOf(LockBackendException.class);
			assertThat(waiter.get(LONG.toSeconds(), TimeUnit.SECONDS)).isNotNull();
			assertThat(RedisNode.release(lease)).isFalse();
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> mute.backend().forceRelease(this.key));
		}
	}

	@ParameterizedTest
	@EnumSource
	void redisThatRefusesToTellOfReleasesFailsTheStart(RedisStore store) {
		createUserWhoMayNotTell();
		DatabaseAccess database = TestDatabase.H2.newDatabase();
		store.application(database, this.server.port())
			.withPropertyValues("spring.data.redis.username=mute", "spring.data.redis.password=pw")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining(
						"The lock backend '" + store.name().toLowerCase(Locale.ROOT) + "' cannot be used"));
	}

	private void createUserWhoMayNotTell() {
		this.server.command("ACL", "SETUSER", "mute", "on", ">pw", "~*", "&*", "+@all", "-publish");
	}

	private void assertWaitersAreServed(RedisNode deaf) throws Exception {
		try (RedisNode other = RedisClientType.LETTUCE.connect(this.server.port())) {
			for (int i = 0; i < 3; i++) {
				LockBackend.Lease lease = other.acquired(Requests.request(this.key, LONG));
				FutureTask<LockBackend.@Nullable Lease> waiter = deaf.waiter(Requests.request(this.key, LONG));
				await().during(Duration.ofMillis(200)).until(() -> !waiter.isDone());
				assertThat(RedisNode.release(lease)).isTrue();
				LockBackend.Lease next = waiter.get(LONG.toSeconds(), TimeUnit.SECONDS);
				assertThat(next).isNotNull();
				assertThat(RedisNode.release(next)).isTrue();
			}
		}
	}

	/** When the client has connected, it may not be needed any more. */
	private static void awaitOneWarning(CapturedOutput output) {
		await().atMost(LONG)
			.untilAsserted(() -> assertThat(
					output.getOut().lines().filter((line) -> line.contains("Redis does not report releases of locks")))
				.singleElement()
				.asString()
				.contains("WARN"));
	}

}
