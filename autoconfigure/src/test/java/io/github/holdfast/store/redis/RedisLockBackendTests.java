package io.github.holdfast.store.redis;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;
import org.redisson.config.NameMapper;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackend.Capability;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(120)
class RedisLockBackendTests {

	private final RedisServer server = RedisServer.shared();

	@Test
	void clientIsSuppliedAtTheFirstUse() {
		assertThat(new RedisLockBackend(() -> {
			throw new IllegalStateException("too early");
		})).satisfies((backend) -> {
			assertThat(backend.name()).isEqualTo("redis");
			assertThat(backend.capabilities()).containsExactlyInAnyOrder(Capability.SHARED, Capability.FAIR);
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> acquire(backend));
		});
	}

	@Test
	void connectionsOfJedisAreRefused() {
		RedisConnectionFactory jedis = new JedisConnectionFactory();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> acquire(new RedisLockBackend(() -> jedis)))
			.withMessageContaining("needs Lettuce")
			.withMessageContaining("JedisConnectionFactory");
	}

	@Test
	void connectionsThatAreNotSharedAreRefused() {
		LettuceConnectionFactory connections = RedisConnections.lettuce(this.server.port());
		connections.setShareNativeConnection(false);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> acquire(new RedisLockBackend(() -> connections)))
			.withMessageContaining("shareNativeConnection");
		RedisConnections.close(connections);
	}

	@Test
	void namesAreMappedByRedisson() throws Exception {
		NameMapper mapper = new NameMapper() {

			@Override
			public String map(String name) {
				return "app:" + name;
			}

			@Override
			public String unmap(String name) {
				return name.substring("app:".length());
			}

		};
		RedissonClient client = RedissonClients.create((config) -> config.setNameMapper(mapper)
			.useSingleServer()
			.setAddress("redis://127.0.0.1:" + this.server.port())
			.setConnectionMinimumIdleSize(2));
		try (RedisNode node = RedisNode.redisson(client)) {
			LockBackend.Lease lease = node.acquired(Requests.request("mapped", Requests.NO_WAIT));
			assertThat(this.server.command("EXISTS", "app:mapped")).isEqualTo(1L);
			assertThat(client.getLock("mapped").isLocked()).isTrue();
			Semaphore signals = new Semaphore(0);
			node.driver().listen(LockKey.of("mapped").channel(), signals::release);
			assertThat(signals.tryAcquire(30, TimeUnit.SECONDS)).as("subscribed").isTrue();
			assertThat(RedisNode.release(lease)).isTrue();
			assertThat(signals.tryAcquire(30, TimeUnit.SECONDS)).as("released").isTrue();
		}
	}

	private static void acquire(LockBackend backend) throws InterruptedException {
		backend.acquire(Requests.request("key", Requests.NO_WAIT));
	}

}
