package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.MovingSlot;
import io.github.holdfast.testsupport.RedisCluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks in a slot of a Cluster that moves to another master: Redis does nothing for them
 * while one of their keys is here and the other one there. Redisson asks again by itself.
 */
@ParameterizedClass
@EnumSource(RedisClientType.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("long")
class MovingSlotTests {

	private static final Duration LONG = RedisRequests.LONG;

	@Parameter
	private RedisClientType client;

	private RedisCluster cluster;

	private RedisNode node;

	private String key;

	@BeforeAll
	void start() {
		this.cluster = RedisCluster.start();
	}

	@BeforeEach
	void connect() {
		this.node = this.client.connect(this.cluster);
		this.key = "moving:" + UUID.randomUUID();
	}

	@AfterEach
	void disconnect() {
		this.node.close();
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

	@Test
	void lockIsGrantedWhenItsSlotHasMoved() throws Exception {
		MovingSlot slot = slotOfAFreeLock();
		long before = slot.refusals();
		FutureTask<LockBackend.@Nullable Lease> waiter = this.node.waiter(RedisRequests.request(this.key, LONG));
		await().atMost(LONG).until(() -> slot.refusals() > before);
		slot.end();
		LockBackend.Lease lease = waiter.get(LONG.toSeconds(), TimeUnit.SECONDS);
		assertThat(lease).isNotNull();
		assertThat(RedisNode.release(lease)).isTrue();
	}

	@Test
	void storeHasFailedIfTheSlotStillMovesWhenTheWaitTimeIsOver() throws Exception {
		MovingSlot slot = slotOfAFreeLock();
		for (Duration wait : new Duration[] { Duration.ZERO, Duration.ofMillis(100) }) {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.node.backend().acquire(RedisRequests.request(this.key, wait)))
				.satisfies((ex) -> {
					if (this.client == RedisClientType.LETTUCE) {
						assertThat(ex).rootCause().hasMessageContaining("TRYAGAIN");
					}
				});
		}
		slot.end();
		this.node.acquired(RedisRequests.request(this.key, LONG));
	}

	@Test
	void lockIsReleasedWhenItsSlotHasMoved() throws Exception {
		LockBackend.Lease lease = this.node.acquired(RedisRequests.request(this.key, LONG, LONG.multipliedBy(10)));
		MovingSlot slot = movingSlot();
		assertThat(lease.release()).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class);
		slot.end();
		assertThat(RedisNode.release(lease)).isTrue();
		this.node.acquired(RedisRequests.request(this.key, LONG));
	}

	@Test
	void leaseIsRenewedWhenItsSlotHasMoved() throws Exception {
		LockBackend.Lease lease = this.node.acquired(RedisRequests.request(this.key, LONG, LONG.multipliedBy(10)));
		MovingSlot slot = movingSlot();
		assertThat(lease.renew(LONG)).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class);
		slot.end();
		assertThat(RedisNode.renew(lease)).isTrue();
		assertThat(RedisNode.release(lease)).isTrue();
	}

	/** The lock itself is not there, but its epoch has stayed behind. */
	private MovingSlot slotOfAFreeLock() throws Exception {
		assertThat(RedisNode.release(this.node.acquired(RedisRequests.request(this.key, LONG)))).isTrue();
		return MovingSlot.of(this.cluster, this.key);
	}

	/** The lock itself has moved, but its epoch has not. */
	private MovingSlot movingSlot() {
		MovingSlot slot = MovingSlot.of(this.cluster, this.key);
		slot.move(this.key);
		return slot;
	}

}
