package io.github.holdfast.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link BlockingDriver}, with Jedis.
 */
@Timeout(120)
class BlockingDriverTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final String key = "blocking:" + UUID.randomUUID();

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void severalKeysOnARedisThatIsGoneAreAFailureOfTheStore(boolean unified) {
		try (FaultProxy proxy = new FaultProxy(RedisServer.shared().port())) {
			JedisConnectionFactory connections = withOneConnection(proxy.port(), unified);
			try {
				LockTemplate template = new LockTemplate(() -> new RedisLockBackend(() -> connections), List::of);
				proxy.inject(Fault.REFUSE);
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> template.execute(List.of("a" + this.key, "b" + this.key), () -> "done"))
					.withMessageContaining("a" + this.key);
				proxy.inject(Fault.NONE);
				assertThat(template.execute(List.of("a" + this.key, "b" + this.key), () -> "done")).isEqualTo("done");
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@Tag("F16")
	void interruptWhileAllConnectionsAreInUseIsNoFailureOfTheStore(boolean unified) throws Exception {
		withAllConnectionsInUse(unified, (connections) -> {
			RedisLockBackend backend = new RedisLockBackend(() -> connections);
			FutureTask<@Nullable LockLease> acquisition = new FutureTask<>(
					() -> backend.acquire(RedisRequests.request(this.key, LONG)));
			interruptedInPool(acquisition);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
				.withCauseInstanceOf(InterruptedException.class);
			assertThat(RedisServer.shared().command("EXISTS", LockKey.of(this.key).lock())).isEqualTo(0L);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@Tag("F16")
	void interruptOfARenewalIsNotForgotten(boolean unified) throws Exception {
		withAllConnectionsInUse(unified, (connections) -> {
			RedisLocks locks = new RedisLocks(() -> RedisLockBackend.springDriver(connections), Duration.ofDays(1));
			Grant grant = locks.grant(RedisRequests.request(this.key, LONG));
			FutureTask<Boolean> renewal = new FutureTask<>(() -> {
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> grant.renew(LONG));
				return Thread.currentThread().isInterrupted();
			});
			interruptedInPool(renewal);
			assertThat(renewal.get()).isTrue();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@Tag("F80")
	void lockIsReleasedAlthoughItsThreadIsInterruptedWhileAllConnectionsAreInUse(boolean unified) throws Exception {
		RedisServer server = RedisServer.shared();
		AtomicReference<@Nullable LockLease> held = new AtomicReference<>();
		withAllConnectionsInUse(unified, (connections) -> {
			RedisLockBackend backend = new RedisLockBackend(() -> connections);
			held.set(backend.acquire(RedisRequests.request(this.key, LONG, Duration.ofMinutes(10))));
		}, (connections) -> {
			LockLease lease = Objects.requireNonNull(held.get());
			FutureTask<Boolean> release = new FutureTask<>(() -> {
				assertThat(lease.release().toCompletableFuture()).isCompletedExceptionally();
				return Thread.currentThread().isInterrupted();
			});
			interruptedInPool(release);
			assertThat(release.get()).isTrue();
			server.command("LPUSH", "list:" + this.key, "end");
			await().until(() -> server.command("EXISTS", LockKey.of(this.key).lock()).equals(0L));
		});
	}

	private static void interruptedInPool(Runnable task) {
		Thread thread = new Thread(task);
		thread.start();
		await().until(() -> List.of(thread.getStackTrace())
			.toString()
			.contains("org.apache.commons.pool2.impl.LinkedBlockingDeque"));
		thread.interrupt();
	}

	private void withAllConnectionsInUse(boolean unified, Use use) throws Exception {
		withAllConnectionsInUse(unified, (connections) -> {
		}, use);
	}

	private void withAllConnectionsInUse(boolean unified, Use before, Use use) throws Exception {
		RedisServer server = RedisServer.shared();
		JedisConnectionFactory connections = withOneConnection(server.port(), unified);
		before.run(connections);
		String list = "list:" + this.key;
		Thread user = new Thread(() -> {
			try (RedisConnection connection = connections.getConnection()) {
				connection.listCommands().bLPop(0, list.getBytes(StandardCharsets.UTF_8));
			}
		});
		user.start();
		try {
			await().until(() -> server.command("CLIENT", "LIST").toString().contains("cmd=blpop"));
			use.run(connections);
		}
		finally {
			server.command("LPUSH", list, "end");
			user.join();
			server.command("DEL", list);
			RedisConnections.close(connections);
		}
	}

	private static JedisConnectionFactory withOneConnection(int port, boolean unified) {
		GenericObjectPoolConfig<?> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		JedisConnectionFactory factory = new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port),
				JedisClientConfiguration.builder().usePooling().poolConfig(pool).build());
		BeanWrapper properties = new BeanWrapperImpl(factory);
		if (properties.isWritableProperty("useUnifiedJedis")) {
			properties.setPropertyValue("useUnifiedJedis", unified);
		}
		else {
			Assumptions.assumeFalse(unified, "Only Spring Data Redis 4.1 and later has a unified Jedis");
		}
		factory.afterPropertiesSet();
		return factory;
	}

	@FunctionalInterface
	private interface Use {

		void run(JedisConnectionFactory connections) throws Exception;

	}

}
