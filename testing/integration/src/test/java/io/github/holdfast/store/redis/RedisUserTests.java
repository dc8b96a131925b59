package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.client.RedisException;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.DataAccessException;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The documented privileges are enough, and none of them can be left out. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("long")
class RedisUserTests {

	private static final Duration LONG = Requests.LONG;

	@AutoClose
	private final RedisServer server = RedisServer.start();

	@ParameterizedTest
	@EnumSource
	void documentedPrivilegesAreEnough(RedisClientType client) throws Exception {
		DocumentedUser.create(this.server);
		this.server.command("SCRIPT", "FLUSH");
		use(client);
	}

	/** By one of the clients at least. */
	@ParameterizedTest
	@MethodSource
	void eachDocumentedCommandIsNeeded(String command) {
		assertThat(RedisClientType.values()).as("clients that need it")
			.anyMatch((client) -> !worksWithout(client, command));
	}

	static Stream<String> eachDocumentedCommandIsNeeded() {
		return DocumentedUser.commands();
	}

	private boolean worksWithout(RedisClientType client, String command) {
		DocumentedUser.create(this.server);
		this.server.command("ACL", "SETUSER", DocumentedUser.NAME, "-" + command);
		this.server.command("SCRIPT", "FLUSH");
		try {
			use(client);
			return true;
		}
		catch (RedisException | DataAccessException | CompletionException | ExecutionException
				| ConditionTimeoutException ex) {
			return false;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@ParameterizedTest
	@EnumSource
	void otherKeysAreOutOfReach(RedisClientType client) throws Exception {
		DocumentedUser.create(this.server);
		try (RedisNode node = connect(client)) {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> node.backend().acquire(Requests.request("other:A", Requests.NO_WAIT)))
				.havingCause()
				.withMessageContaining("NOPERM");
		}
	}

	/** As managed services have them, without {@code INFO} and {@code CONFIG}. */
	@ParameterizedTest
	@EnumSource
	void twoApplicationsOfTheUserExcludeEachOther(RedisStore store) {
		DocumentedUser.create(this.server);
		this.server.command("ACL", "LOG", "RESET");
		application(store).run((first) -> {
			assertThat(first).hasNotFailed();
			LockTemplate locks = first.getBean(LockTemplate.class);
			application(store).run((second) -> {
				assertThat(second).hasNotFailed();
				LockTemplate others = second.getBean(LockTemplate.class);
				FutureTask<Boolean> waiter = new FutureTask<>(
						() -> others.withWaitTime(LONG).withFair(true).execute("A", () -> true));
				locks.run("A", () -> {
					Threads.start(() -> {
						waiter.run();
						return true;
					});
					await().during(Duration.ofMillis(300)).until(() -> !waiter.isDone());
				});
				assertThat(waiter.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
			});
		});
		// Clients tell their names, and Redisson tries whether scripts may do more
		assertThat(this.server.command("ACL", "LOG").toString().replaceAll("object, (client|test1)", ""))
			.doesNotContain("object,");
	}

	private ApplicationContextRunner application(RedisStore store) {
		return store.application(TestDatabase.H2.newDatabase(), this.server.port())
			.withPropertyValues("spring.data.redis.username=" + DocumentedUser.NAME,
					"spring.data.redis.password=" + DocumentedUser.PASSWORD);
	}

	/** Everything that is done with locks, or at least something with each command. */
	private void use(RedisClientType client) throws Exception {
		String key = "holdfast:" + UUID.randomUUID();
		try (RedisNode node = connect(client)) {
			assertThat(node.backend().ping()).isNotNull();
			LockBackend.Lease lease = node.acquired(Requests.request(key, Requests.NO_WAIT));
			assertThat(node.backend().holder(key)).isNotNull();
			assertThat(RedisNode.renew(lease)).isTrue();
			LockRequest fair = Requests.fair(key, LONG);
			FutureTask<LockBackend.@Nullable Lease> waiter = node.waiter(fair);
			try {
				awaitSubscribers(key, fair, 1);
			}
			finally {
				release(lease);
				lease = waiter.get(LONG.toSeconds(), TimeUnit.SECONDS);
				release(lease);
			}
			awaitSubscribers(key, fair, 0);
			lease = node.acquired(Requests.shared(key, Requests.NO_WAIT));
			assertThat(RedisNode.renew(lease)).isTrue();
			assertThat(node.backend().acquire(Requests.request(key, Duration.ofMillis(10)))).isNull();
			release(lease);
			node.acquired(Requests.request(key, LONG));
			assertThat(node.backend().forceRelease(key)).isTrue();
		}
	}

	private static void release(LockBackend.@Nullable Lease lease) throws Exception {
		assertThat(lease).isNotNull();
		assertThat(RedisNode.release(lease)).isTrue();
	}

	private void awaitSubscribers(String key, LockRequest fair, long count) {
		String channel = LockKey.of(key).channel() + ":" + fair.owner().id();
		await().atMost(Duration.ofSeconds(5))
			.until(() -> this.server.command("PUBSUB", "NUMSUB", channel).toString().endsWith(" " + count + "]"));
	}

	private RedisNode connect(RedisClientType client) {
		return client.connect(this.server.port(), DocumentedUser.NAME, DocumentedUser.PASSWORD);
	}

}
