package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.RedisException;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The privileges that the documentation lists are enough, and none of them can be left
 * out.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("long")
class RedissonUserTests {

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
		return RedisUser.REDISSON.commands();
	}

	@Test
	void otherKeysAreOutOfReach() {
		RedisUser.REDISSON.create(this.server, "lock:");
		RedissonClient client = connect();
		RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
		try {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend.acquire(RedisRequests.request("other:A", Duration.ZERO)))
				.havingCause()
				.withMessageContaining("NOPERM");
		}
		finally {
			RedissonClients.close(client);
		}
	}

	private boolean worksWithout(String command) {
		RedisUser.REDISSON.create(this.server, "lock:");
		if (!command.isEmpty()) {
			this.server.command("ACL", "SETUSER", RedisUser.NAME, "-" + command.split("[+|]")[1]);
		}
		this.server.command("SCRIPT", "FLUSH");
		RedissonClient client = null;
		try {
			client = connect();
			return works(client);
		}
		catch (RedisException | LockBackendException | CompletionException | ConditionTimeoutException ex) {
			return false;
		}
		finally {
			if (client != null) {
				RedissonClients.close(client);
			}
		}
	}

	private boolean works(RedissonClient client) {
		RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
		String key = "lock:" + UUID.randomUUID();
		LockLease lease = acquire(backend, RedisRequests.request(key, Duration.ZERO)).join();
		if (backend.holder(key) == null || !lease.renew(Duration.ofSeconds(30))) {
			return false;
		}
		CompletableFuture<LockLease> waiter = acquire(backend, RedisRequests.fair(key, LONG));
		try {
			awaitSubscribers(key, 1);
			lease.release().toCompletableFuture().join();
			lease = waiter.join();
		}
		finally {
			lease.release().toCompletableFuture().join();
		}
		awaitSubscribers(key, 0);
		return client.getRedisNodes(RedisNodes.SINGLE).pingAll();
	}

	private static CompletableFuture<LockLease> acquire(RedisLockBackend backend, LockRequest request) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				LockLease lease = backend.acquire(request);
				assertThat(lease).isNotNull();
				return lease;
			}
			catch (InterruptedException ex) {
				throw new CompletionException(ex);
			}
		}, (task) -> new Thread(task).start());
	}

	private void awaitSubscribers(String key, long count) {
		String channel = LockKey.of(key).channel();
		await().atMost(Duration.ofSeconds(5))
			.until(() -> this.server.command("PUBSUB", "NUMSUB", channel).toString().endsWith(" " + count + "]"));
	}

	private RedissonClient connect() {
		return RedissonClients.single(this.server.port(), RedisUser.NAME, RedisUser.PASSWORD);
	}

}
