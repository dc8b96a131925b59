package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The privileges that the documentation lists are enough, and none of them can be left
 * out.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class RedisUserTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final RedisServer server = RedisServer.start();

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	void documentedPrivilegesAreEnough() {
		await().atMost(LONG).until(() -> worksWithout(""));
	}

	@ParameterizedTest
	@MethodSource
	void eachDocumentedCommandIsNeeded(String command) {
		assertThat(worksWithout(command)).isFalse();
	}

	static Stream<String> eachDocumentedCommandIsNeeded() {
		return RedisUser.SPRING.commands();
	}

	@Test
	void otherKeysAreOutOfReach() {
		RedisUser.SPRING.create(this.server, "lock:");
		RedisConnectionFactory connections = connect();
		RedisLockBackend backend = new RedisLockBackend(() -> connections);
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend.acquire(RedisRequests.request("other:A", Duration.ZERO)))
				.havingCause()
				.withMessageContaining("NOPERM");
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	private boolean worksWithout(String command) {
		RedisUser.SPRING.create(this.server, "lock:");
		if (!command.isEmpty()) {
			this.server.command("ACL", "SETUSER", RedisUser.NAME, command.replace('+', '-'));
		}
		this.server.command("SCRIPT", "FLUSH");
		RedisConnectionFactory connections = connect();
		try {
			return works(new RedisLockBackend(() -> connections), "lock:" + UUID.randomUUID());
		}
		catch (LockBackendException | CompletionException | ConditionTimeoutException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	private boolean works(RedisLockBackend backend, String key) throws InterruptedException {
		LockLease lease = backend.acquire(RedisRequests.request(key, Duration.ZERO));
		assertThat(lease).isNotNull();
		if (backend.holder(key) == null || !lease.renew(Duration.ofSeconds(30))) {
			return false;
		}
		CompletableFuture<LockLease> waiter = CompletableFuture.supplyAsync(() -> {
			try {
				return backend.acquire(RedisRequests.fair(key, LONG));
			}
			catch (InterruptedException ex) {
				throw new CompletionException(ex);
			}
		}, (task) -> new Thread(task).start());
		try {
			awaitSubscribers(key, 1);
		}
		finally {
			lease.release().toCompletableFuture().join();
			waiter.join().release().toCompletableFuture().join();
		}
		awaitSubscribers(key, 0);
		return true;
	}

	private void awaitSubscribers(String key, long count) {
		String channel = LockKey.of(key).channel();
		await().atMost(Duration.ofSeconds(5))
			.until(() -> this.server.command("PUBSUB", "NUMSUB", channel).toString().endsWith(" " + count + "]"));
	}

	private RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.server.port(), RedisUser.NAME, RedisUser.PASSWORD);
	}

}
