package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.MovingSlot;
import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks in a slot of a Cluster that moves to another master: Redis does nothing for them
 * while one of their keys is here and the other one there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("F73")
class MovingSlotTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final RedisCluster cluster = RedisCluster.start();

	@AfterAll
	void stop() {
		this.cluster.close();
	}

	@Test
	void lockIsGrantedWhenItsSlotHasMoved() throws Exception {
		run((backend, key) -> {
			backend.acquire(RedisRequests.request(key, LONG)).release().toCompletableFuture().join();
			MovingSlot slot = MovingSlot.of(this.cluster, LockKey.of(key).lock());
			LockLease lease = whileMoving(slot, () -> backend.acquire(RedisRequests.request(key, LONG)));
			assertThat(lease).isNotNull();
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
		});
	}

	@Test
	void storeHasFailedIfTheSlotStillMovesWhenTheWaitTimeIsOver() throws Exception {
		run((backend, key) -> {
			backend.acquire(RedisRequests.request(key, LONG)).release().toCompletableFuture().join();
			MovingSlot slot = MovingSlot.of(this.cluster, LockKey.of(key).lock());
			for (Duration wait : new Duration[] { Duration.ZERO, Duration.ofMillis(100) }) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(RedisRequests.request(key, wait)))
					.havingRootCause()
					.withMessageContaining("TRYAGAIN");
			}
			slot.end();
			assertThat(backend.acquire(RedisRequests.request(key, LONG))).isNotNull();
		});
	}

	@Test
	void lockIsReleasedWhenItsSlotHasMoved() throws Exception {
		run((backend, key) -> {
			LockLease lease = backend.acquire(RedisRequests.request(key, LONG, LONG.multipliedBy(10)));
			MovingSlot slot = MovingSlot.of(this.cluster, LockKey.of(key).lock());
			slot.move(LockKey.of(key).lock());
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> lease.release().toCompletableFuture().join())
				.havingRootCause()
				.withMessageContaining("TRYAGAIN");
			slot.end();
			assertThat(backend.acquire(RedisRequests.request(key, LONG))).isNotNull();
		});
	}

	@Test
	void leaseIsRenewedWhenItsSlotHasMoved() throws Exception {
		run((backend, key) -> {
			LockLease lease = backend.acquire(RedisRequests.request(key, LONG));
			MovingSlot slot = MovingSlot.of(this.cluster, LockKey.of(key).lock());
			slot.move(LockKey.of(key).lock());
			assertThat(whileMoving(slot, () -> lease.renew(LONG))).isTrue();
		});
	}

	/**
	 * Do something, and let the slot arrive when Redis has refused it.
	 */
	private static <T> T whileMoving(MovingSlot slot, Callable<T> call) throws Exception {
		long before = slot.refusals();
		FutureTask<T> task = new FutureTask<>(call);
		Thread thread = new Thread(task);
		thread.start();
		await().atMost(LONG).until(() -> slot.refusals() > before || task.isDone());
		slot.end();
		return task.get(LONG.toSeconds(), TimeUnit.SECONDS);
	}

	private void run(Body body) throws Exception {
		RedisConnectionFactory connections = RedisConnections.lettuce(this.cluster);
		try {
			body.run(new RedisLockBackend(() -> connections), "moving:" + UUID.randomUUID());
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@FunctionalInterface
	private interface Body {

		void run(RedisLockBackend backend, String key) throws Exception;

	}

}
