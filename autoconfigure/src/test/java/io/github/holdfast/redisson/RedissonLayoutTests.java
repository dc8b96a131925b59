package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.NameMapper;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What our scripts expect to find in Redis is what Redisson writes there. A version of
 * Redisson that keeps its locks in another way fails here.
 */
class RedissonLayoutTests {

	private static final long MINUTE = 60_000;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisServer server = RedisServer.shared();

	private final RedissonClient client = RedissonClients.single(this.server.port());

	private final String key = "layout:" + UUID.randomUUID();

	private final LockNames names = LockNames.of(this.key);

	@AfterEach
	void close() {
		RedissonClients.close(this.client);
	}

	@Test
	void lockIsAHashWithOneFieldForItsHolder() {
		RLock lock = this.client.getLock(this.names.lock());
		assertThat(lock.tryLockAsync(0, MINUTE, TimeUnit.MILLISECONDS, 4711).toCompletableFuture().join()).isTrue();
		assertThat(command("HGETALL", this.names.lock())).isEqualTo(List.of(this.client.getId() + ":4711", "1"));
		assertThat((Long) command("PTTL", this.names.lock())).isBetween(1L, MINUTE);
		lock.unlockAsync(4711).toCompletableFuture().join();
		assertThat(command("EXISTS", this.names.lock())).isEqualTo(0L);
	}

	@Test
	void hashWithAnyFieldIsALock() {
		command("HSET", this.names.lock(), "somebody", "1");
		RLock lock = this.client.getLock(this.names.lock());
		assertThat(lock.tryLockAsync(0, MINUTE, TimeUnit.MILLISECONDS, 4711).toCompletableFuture().join()).isFalse();
		assertThat(lock.isLocked()).isTrue();
		command("DEL", this.names.lock());
		assertThat(lock.tryLockAsync(0, MINUTE, TimeUnit.MILLISECONDS, 4711).toCompletableFuture().join()).isTrue();
	}

	@Test
	void heldLockIsALockOfRedissonWithOurHolder() throws Exception {
		LockLease lease = acquired(this.client);
		List<?> fields = (List<?>) command("HKEYS", this.names.lock());
		assertThat(fields).singleElement().asString().startsWith(this.client.getId() + ":");
		assertThat(this.client.getLock(this.names.lock()).isLocked()).isTrue();
		assertThat(command("HGET", this.names.counter(), "owner")).isEqualTo(fields.get(0));
		assertThat(command("HGET", this.names.counter(), "epoch")).isEqualTo(Long.toString(lease.epoch()));
		assertThat(lease.release().toCompletableFuture().get()).isTrue();
		assertThat(this.client.getLock(this.names.lock()).isLocked()).isFalse();
	}

	/**
	 * A watchdog would set the time of the lease to that of Redisson's configuration.
	 */
	@Test
	void leaseIsNotRenewedByRedisson() throws Exception {
		RedissonClient impatient = RedissonClients.create((config) -> config.setLockWatchdogTimeout(300)
			.useSingleServer()
			.setAddress("redis://127.0.0.1:" + this.server.port()));
		try {
			RedissonLockBackend backend = new RedissonLockBackend(() -> impatient);
			LockLease lease = backend.acquire(RedissonRequests.request(this.key, PATIENCE));
			assertThat(lease).isNotNull();
			await().during(Duration.ofMillis(600)).atMost(PATIENCE).until(() -> remaining() > MINUTE / 4);
			assertThat(remaining()).isBetween(MINUTE / 4, MINUTE - 500);
		}
		finally {
			RedissonClients.close(impatient);
		}
	}

	@Test
	void namesAreThoseThatTheNameMapperOfTheClientMakes() throws Exception {
		RedissonClient mapped = RedissonClients.create((config) -> config.setNameMapper(new Prefix("app:"))
			.useSingleServer()
			.setAddress("redis://127.0.0.1:" + this.server.port()));
		try {
			LockLease lease = acquired(mapped);
			assertThat(command("EXISTS", "app:" + this.names.lock(), "app:" + this.names.counter())).isEqualTo(2L);
			assertThat(command("EXISTS", this.names.lock(), this.names.counter())).isEqualTo(0L);
			assertThat(lease.renew(Duration.ofMinutes(2))).isTrue();
			assertThat((Long) command("PTTL", "app:" + this.names.lock())).isGreaterThan(MINUTE);
			Thread waiter = new Thread(() -> {
				try {
					LockLease next = new RedissonLockBackend(() -> mapped)
						.acquire(RedissonRequests.request(this.key, Duration.ofMinutes(1)));
					assertThat(next).isNotNull();
					next.release().toCompletableFuture().join();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			});
			waiter.start();
			await().until(() -> command("PUBSUB", "NUMSUB", "app:" + this.names.channel()).toString().endsWith(" 1]"));
			assertThat(lease.release().toCompletableFuture().get()).isTrue();
			waiter.join();
			await().until(() -> command("PUBSUB", "NUMSUB", "app:" + this.names.channel()).toString().endsWith(" 0]"));
		}
		finally {
			RedissonClients.close(mapped);
		}
	}

	/**
	 * Other names in the same slot, whatever a key looks like.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "a", "{", "}", "{}", "}{", "{a}b", "a{b}c", " ", "a\r\nb", "é📦", "{a}{b}" })
	@Tag("F47")
	void namesOfALockAreInOneSlot(String key) {
		LockNames names = LockNames.of(key);
		assertThat(List.of(names.lock(), names.counter(), names.queue(), names.tickets(), names.channel()))
			.extracting((name) -> name.substring(name.indexOf('{') + 1, name.indexOf('}')))
			.containsOnly(names.lock().substring("redisson:{".length(), names.lock().length() - 1))
			.doesNotContain("");
	}

	private LockLease acquired(RedissonClient client) throws InterruptedException {
		LockLease lease = new RedissonLockBackend(() -> client).acquire(RedissonRequests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	private long remaining() {
		return (Long) command("PTTL", this.names.lock());
	}

	private Object command(String... command) {
		return this.server.command(command);
	}

	/**
	 * Puts a prefix in front of all names.
	 */
	private record Prefix(String prefix) implements NameMapper {

		@Override
		public String map(String name) {
			return this.prefix + name;
		}

		@Override
		public String unmap(String name) {
			return name.substring(this.prefix.length());
		}

	}

}
