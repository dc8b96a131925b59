package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.NameMapper;

import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What settings of the client do to locks: its names are used, its watchdog is not.
 */
class RedissonNamesTests {

	private static final long MINUTE = 60_000;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisServer server = RedisServer.shared();

	private final String key = "names:" + UUID.randomUUID();

	private final LockKey names = LockKey.of(this.key);

	/**
	 * A watchdog would set the time of the lease to that of Redisson's configuration.
	 */
	@Test
	void leaseIsNotRenewedByRedisson() throws Exception {
		RedissonClient impatient = RedissonClients.create((config) -> config.setLockWatchdogTimeout(300)
			.useSingleServer()
			.setAddress("redis://127.0.0.1:" + this.server.port()));
		try {
			RedisLockBackend backend = RedisLockBackend.redisson(() -> impatient);
			LockLease lease = backend.acquire(RedisRequests.request(this.key, PATIENCE));
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
					LockLease next = RedisLockBackend.redisson(() -> mapped)
						.acquire(RedisRequests.request(this.key, Duration.ofMinutes(1)));
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
	 * A waiter who is not told would still get the lock, when it asks again.
	 */
	@Test
	void releaseIsToldOnTheChannelThatTheNameMapperOfTheClientMakes() throws Exception {
		RedissonClient mapped = RedissonClients.create((config) -> config.setNameMapper(new Prefix("app:"))
			.useSingleServer()
			.setAddress("redis://127.0.0.1:" + this.server.port()));
		RedissonClient other = RedissonClients.single(this.server.port());
		try {
			CountDownLatch told = new CountDownLatch(1);
			other.getTopic("app:" + this.names.channel(), StringCodec.INSTANCE)
				.addListener(String.class, (name, message) -> told.countDown());
			LockLease lease = acquired(mapped);
			assertThat(told.getCount()).isOne();
			assertThat(lease.release().toCompletableFuture().get()).isTrue();
			assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			RedissonClients.close(other);
			RedissonClients.close(mapped);
		}
	}

	private LockLease acquired(RedissonClient client) throws InterruptedException {
		LockLease lease = RedisLockBackend.redisson(() -> client).acquire(RedisRequests.request(this.key, PATIENCE));
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
