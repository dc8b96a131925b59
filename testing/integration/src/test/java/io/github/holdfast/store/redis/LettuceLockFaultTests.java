package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.util.ReflectionTestUtils;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.store.KeyedPermits;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when something is wrong with Redis, or with its data.
 */
class LettuceLockFaultTests extends RedisLockFaultTests {

	@Override
	RedisTestStore open(RedisServer server) {
		return RedisTestStore.lettuce(server);
	}

	@Override
	RedisNode node(int port, String user, String password) {
		return RedisNode.lettuce(RedisConnections.lettuce(port, user, password));
	}

	// Owners

	@Test
	@Tag("F05")
	void lockOfAFailedReleaseIsNotEnteredAgainByItsThread() {
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			RedisConnectionFactory connections = RedisConnections.lettuce(proxy.port());
			try {
				LockTemplate template = template(new RedisLockBackend(() -> connections));
				Object owner = template.execute(this.key, () -> {
					proxy.inject(FaultProxy.Fault.BLACKHOLE);
					return owner();
				});
				assertThat(owner()).isEqualTo(owner);
				proxy.reset();
				proxy.inject(FaultProxy.Fault.NONE);
				assertThat(template.withWaitTime(LONG).<Object, RuntimeException>execute(this.key, this::owner))
					.as("another acquisition, when a later attempt has released the lock")
					.isNotEqualTo(owner);
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	// Restarts

	@Test
	@Tag("F17")
	void heldLockSurvivesARestartWithItsData() {
		try (RedisServer persistent = RedisServer.startPersistent()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(persistent.port());
			try {
				LockLease lease = acquired(new RedisLockBackend(() -> connections), this.key);
				persistent.restart();
				await().atMost(PATIENCE).ignoreException(LockBackendException.class).until(() -> lease.renew(LONG));
				assertThat(persistent.command("HGET", LockKey.of(this.key).lock(), "owner")).isEqualTo(lease.owner());
				assertThat(join(lease.release())).isTrue();
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	@Test
	@Tag("F17")
	void heldLockIsLostByARestartWithoutData() {
		try (RedisServer forgetful = RedisServer.start()) {
			RedisConnectionFactory connections = RedisConnections.lettuce(forgetful.port());
			try {
				RedisLockBackend backend = new RedisLockBackend(() -> connections);
				LockLease lease = acquired(backend, this.key);
				forgetful.restart();
				await().atMost(PATIENCE).ignoreException(LockBackendException.class).until(() -> !lease.renew(LONG));
				assertThat(acquired(backend, this.key).epoch()).isGreaterThan(lease.epoch());
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	// Round trips

	@Test
	void severalFreeKeysTakeOneRoundTrip() {
		LockTemplate template = template(backend());
		template.run(this.key, () -> {
		});
		long before = scripts();
		template.execute(List.of("b" + this.key, "a" + this.key, "c" + this.key), () -> {
			assertThat(scripts()).isEqualTo(before + 1);
			return assertThat((List<?>) this.server.command("KEYS", "{?" + this.key + "}")).hasSize(3);
		});
		assertThat(scripts()).isEqualTo(before + 4);
		assertThat((List<?>) this.server.command("KEYS", "{?" + this.key + "}")).isEmpty();
	}

	@Test
	void severalKeysAreWaitedForOneByOne() {
		LockTemplate template = template(backend()).withWaitTime(LONG);
		LockLease lease = acquired("b" + this.key);
		CompletableFuture<String> call = CompletableFuture.supplyAsync(
				() -> template.execute(List.of("b" + this.key, "a" + this.key), () -> "done"),
				(task) -> new Thread(task).start());
		await().until(() -> this.server.command("EXISTS", LockKey.of("a" + this.key).lock()).equals(1L));
		join(lease.release());
		assertThat(call.join()).isEqualTo("done");
		assertThat((List<?>) this.server.command("KEYS", "{?" + this.key + "}")).isEmpty();
	}

	@Test
	void severalKeysAreTakenAllOrNone() {
		acquired("b" + this.key);
		assertThat(backend().acquireAll(List.of(RedisRequests.request("a" + this.key, NO_WAIT),
				RedisRequests.request("b" + this.key, NO_WAIT))))
			.isNull();
		assertThat(this.server.command("EXISTS", LockKey.of("a" + this.key).lock())).isEqualTo(0L);
	}

	private long scripts() {
		return Stream.of(this.server.info("cmdstat_evalsha").split(","))
			.filter((part) -> part.startsWith("calls="))
			.mapToLong((part) -> Long.parseLong(part.substring("calls=".length())))
			.sum();
	}

	// What is left

	@Test
	void manyKeysLeaveNothingInRedisAndInTheJvm() throws Exception {
		leaveNothing(2000);
	}

	@Test
	@Tag("long")
	@Tag("night")
	@Timeout(900)
	void tenThousandKeysLeaveNothingInRedisAndInTheJvm() throws Exception {
		leaveNothing(10_000);
	}

	private void leaveNothing(int keys) throws Exception {
		RedisConnectionFactory connections = RedisConnections.lettuce(this.server.port());
		try (RedisLockBackend backend = new RedisLockBackend(() -> connections, Duration.ofMillis(1))) {
			leaveNothing(backend, keys);
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	private void leaveNothing(RedisLockBackend backend, int keys) throws Exception {
		// Longer than a release may take
		Duration leaseTime = Duration.ofSeconds(6);
		HandoverLockBackend handover = new HandoverLockBackend(backend);
		int threads = 0;
		for (int i = 0; i < keys; i++) {
			LockLease lease = handover.acquire(RedisRequests.request("many:" + i, LONG, leaseTime));
			assertThat(lease).isNotNull();
			if (i % 100 == 0) {
				assertThat(backend.acquire(RedisRequests.request("many:" + i, Duration.ofMillis(1)))).isNull();
			}
			assertThat(join(lease.release())).isTrue();
			threads = (i == 200) ? Thread.activeCount() : threads;
		}
		assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 5);
		KeyedPermits<?> queue = (KeyedPermits<?>) ReflectionTestUtils.getField(handover, "queue");
		assertThat(queue).isNotNull();
		assertThat(queue.size()).isZero();
		await().until(() -> this.server.command("PUBSUB", "CHANNELS", "{many:*").equals(List.of()));
		assertThat(ReflectionTestUtils.getField(backend.driver(), "messages"))
			.isInstanceOfSatisfying(ReleaseMessages.class, (messages) -> assertThat(messages.size()).isZero());
		await().atMost(LONG).until(() -> this.server.command("DBSIZE").equals(0L));
	}

	private static LockTemplate template(RedisLockBackend backend) {
		return new LockTemplate(() -> new HandoverLockBackend(backend), List::of).withKeyPrefix("");
	}

	private LockLease acquired(String key) {
		return acquired(backend(), key);
	}

	private static LockLease acquired(RedisLockBackend backend, String key) {
		try {
			LockLease lease = backend.acquire(RedisRequests.request(key, PATIENCE));
			assertThat(lease).isNotNull();
			return lease;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

}
