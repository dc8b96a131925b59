package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.store.GrantedLease;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock that goes from one client to the other: each wakes the other one, and the tokens
 * rise.
 */
@Timeout(120)
class MixedRedisOrderTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final RedisServer server = RedisServer.shared();

	private final RedissonClient client = RedissonClients.single(this.server.port());

	private final RedisConnectionFactory connections = RedisConnections.lettuce(this.server.port());

	private final RedisLockBackend redisson = RedisLockBackend.redisson(() -> this.client);

	private final RedisLockBackend lettuce = new RedisLockBackend(() -> this.connections);

	private final String key = "mixed:" + UUID.randomUUID();

	@AfterEach
	void close() {
		RedissonClients.close(this.client);
		RedisConnections.close(this.connections);
	}

	@Test
	void tokensRiseFromClientToClient() throws Exception {
		long last = 0;
		for (int i = 0; i < 100; i++) {
			LockLease lease = ((i % 2 == 0) ? this.redisson : this.lettuce)
				.acquire(RedisRequests.request(this.key, LONG));
			assertThat(lease).isNotNull();
			assertThat(lease.fencingToken()).isGreaterThan(last);
			last = lease.fencingToken();
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
		}
	}

	/**
	 * Both clients see each other's waiters, and the answer to the release says that one
	 * was told.
	 */
	@Test
	void releaseWakesTheOtherClient() throws Exception {
		for (List<RedisLockBackend> pair : List.of(List.of(this.redisson, this.lettuce),
				List.of(this.lettuce, this.redisson))) {
			LockLease lease = pair.get(0).acquire(RedisRequests.request(this.key, LONG));
			assertThat(lease).isNotNull();
			CompletableFuture<LockLease> waiter = waiter(pair.get(1));
			awaitListeners(1);
			await().until(() -> ((GrantedLease) lease).othersWait().toCompletableFuture().join());
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
			assertThat(((GrantedLease) lease).othersWait().toCompletableFuture().join()).isTrue();
			LockLease next = waiter.join();
			assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
			assertThat(next.release().toCompletableFuture().join()).isTrue();
			awaitListeners(0);
		}
	}

	@Test
	void holderIsNamedToTheOtherClient() throws Exception {
		LockLease lease = this.redisson.acquire(RedisRequests.request(this.key, LONG));
		assertThat(lease).isNotNull();
		assertThat(this.lettuce.holder(this.key)).isNotNull()
			.extracting(LockHolder::text)
			.asString()
			.startsWith("held by test, ");
		assertThat(this.redisson.holder(this.key)).isNotNull()
			.extracting(LockHolder::text)
			.asString()
			.startsWith("held by test, ");
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
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

	private void awaitListeners(long count) {
		await().until(() -> this.server.command("PUBSUB", "NUMSUB", LockKey.of(this.key).channel())
			.toString()
			.endsWith(" " + count + "]"));
	}

}
