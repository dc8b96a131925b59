package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
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
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Locks in a slot of a Cluster whose keys are on two masters while it moves. */
@ParameterizedClass
@EnumSource(RedisClientType.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Tag("long")
class MovingSlotTests {

	private static final Duration LONG = Requests.LONG;

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
		FutureTask<LockBackend.@Nullable Lease> waiter = this.node.waiter(Requests.request(this.key, LONG));
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
				.isThrownBy(() -> this.node.backend().acquire(Requests.request(this.key, wait)))
				.satisfies((ex) -> {
					if (this.client == RedisClientType.LETTUCE) {
						assertThat(ex).rootCause().hasMessageContaining("TRYAGAIN");
					}
				});
		}
		slot.end();
		this.node.acquired(Requests.request(this.key, LONG));
	}

	@Test
	void lockIsReleasedWhenItsSlotHasMoved() throws Exception {
		LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, LONG, LONG.multipliedBy(10)));
		MovingSlot slot = movingSlot();
		assertThat(lease.release()).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class);
		slot.end();
		assertThat(RedisNode.release(lease)).isTrue();
		this.node.acquired(Requests.request(this.key, LONG));
	}

	@Test
	void leaseIsRenewedWhenItsSlotHasMoved() throws Exception {
		LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, LONG, LONG.multipliedBy(10)));
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
		assertThat(RedisNode.release(this.node.acquired(Requests.request(this.key, LONG)))).isTrue();
		return MovingSlot.of(this.cluster, this.key);
	}

	/** The lock itself has moved, but its epoch has not. */
	private MovingSlot movingSlot() {
		MovingSlot slot = MovingSlot.of(this.cluster, this.key);
		slot.move(this.key);
		return slot;
	}

	/** A slot that moves step by step, as by {@code redis-cli --cluster reshard}. */
	private record MovingSlot(RedisCluster cluster, String slot, RedisServer source, RedisServer target) {

		/**
		 * Begins to move the slot of a key that is there. Nothing of it has moved yet.
		 */
		public static MovingSlot of(RedisCluster cluster, String key) {
			List<RedisServer> masters = cluster.masters();
			String slot = masters.get(0).command("CLUSTER", "KEYSLOT", key).toString();
			RedisServer source = masters.stream()
				.filter((master) -> (Long) master.command("CLUSTER", "COUNTKEYSINSLOT", slot) > 0)
				.findFirst()
				.orElseThrow();
			RedisServer target = masters.stream().filter((master) -> master != source).findFirst().orElseThrow();
			target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
			source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
			return new MovingSlot(cluster, slot, source, target);
		}

		private static String id(RedisServer server) {
			return server.command("CLUSTER", "MYID").toString();
		}

		public void move(String key) {
			this.source.command("MIGRATE", "127.0.0.1", String.valueOf(this.target.port()), key, "0", "10000");
		}

		/** Moves all keys that are left, and tells all masters where the slot is now. */
		public void end() {
			((List<?>) this.source.command("CLUSTER", "GETKEYSINSLOT", this.slot, "100"))
				.forEach((key) -> move(key.toString()));
			this.target.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.target));
			this.source.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.target));
			this.cluster.masters()
				.forEach((master) -> master.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.target)));
		}

		/** How often a request had keys on both sides. */
		public long refusals() {
			return this.cluster.masters()
				.stream()
				.flatMap((master) -> master.command("INFO", "ERRORSTATS").toString().lines())
				.filter((line) -> line.startsWith("errorstat_TRYAGAIN:count="))
				.mapToLong((line) -> Long.parseLong(line.split("=")[1]))
				.sum();
		}

	}

}
