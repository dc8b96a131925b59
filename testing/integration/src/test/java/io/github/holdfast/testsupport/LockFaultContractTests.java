package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.HandoverLimits;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.store.QueueLimits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What a {@link LockBackend} has to do when something is wrong with a lock: it is removed
 * from the store, released too late, renewed while it is released, or given up while it
 * is waited for. Another node sees what is left. To test a backend, extend this class.
 */
@Timeout(180)
public abstract class LockFaultContractTests extends StoreContract {

	private static final int ROUNDS = 200;

	private static final int MANY_ROUNDS = 3000;

	// Holders

	@Test
	@Tag("F05")
	final void holderIsReportedWithWhatTheStoreKnows() throws Exception {
		assertThat(store().far().holder(this.key)).isNull();
		LockBackend.Lease lease = acquired(store().near());
		LockHolder holder = store().far().holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.description()).startsWith("held by contract test");
		assertThat(holder.epoch()).isEqualTo(lease.epoch());
		assertThat(holder.since() != null).isEqualTo(store().told().contains(TestStore.Told.SINCE));
		assertThat(holder.expires() != null).isEqualTo(store().told().contains(TestStore.Told.EXPIRES));
		assertThat(release(lease).get()).isTrue();
		assertThat(store().far().holder(this.key)).isNull();
	}

	// Forced releases

	@Test
	@Tag("F81")
	final void evictedHolderNoticesItsLossAndTheNextOneGetsTheLock() throws Exception {
		LockBackend.Lease lease = acquired(store().near());
		assertThat(store().far().evict(this.key, lease.owner(), lease.epoch())).isEqualTo(Eviction.EVICTED);
		LockBackend.Lease successor = acquired(store().far());
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(release(lease).get()).isFalse();
		assertHeldBy(successor);
		assertThat(release(successor).get()).isTrue();
	}

	/**
	 * Its JVM passes locks on among its threads for as long as it likes.
	 */
	@Test
	@Tag("F81")
	final void hungHolderIsToldOfItsEvictionAndHandsNothingOver() throws Exception {
		LockBackend node = new HandoverLockBackend(store().near(), new HandoverLimits(16, PATIENCE, (name) -> true),
				QueueLimits.DEFAULT);
		Queue<String> told = new ConcurrentLinkedQueue<>();
		LockTemplate locks = new LockTemplate(() -> node, () -> List.of(new ThreadListener() {

			@Override
			public void onLost(Call call, String key, Duration holdTime) {
				super.lost(call, key, holdTime);
				told.add(Thread.currentThread().getName());
			}

		})).withLeaseTime(Duration.ofSeconds(3)).withWaitTime(PATIENCE).withKeyPrefix("");
		try {
			CountDownLatch held = new CountDownLatch(1);
			CountDownLatch goOn = new CountDownLatch(1);
			FutureTask<Boolean> hung = start(() -> locks.execute(this.key, () -> {
				held.countDown();
				goOn.await();
				return true;
			}));
			held.await();
			LockHolder holder = Objects.requireNonNull(store().far().holder(this.key));
			assertThat(evict(holder.owner(), holder.epoch())).isEqualTo(Eviction.EVICTED);
			LockBackend.Lease successor = acquired(store().far());
			await().atMost(PATIENCE).until(() -> !told.isEmpty());
			assertThat(told).containsExactly("holdfast-listener-1");
			FutureTask<Boolean> next = start(() -> locks.execute(this.key, () -> true));
			goOn.countDown();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(hung::get)
				.withCauseInstanceOf(LockLostAfterWorkException.class);
			await().during(Duration.ofMillis(500)).until(() -> !next.isDone());
			assertThat(owner()).isEqualTo(successor.owner());
			assertThat(release(successor).get()).isTrue();
			assertThat(next.get()).isTrue();
		}
		finally {
			TemplateAccess.close(locks);
		}
	}

	@Test
	@Tag("F81")
	final void evictionWakesTheNextOne() throws Exception {
		LockBackend.Lease lease = acquired(store().far());
		FutureTask<LockBackend.@Nullable Lease> waiter = waiter();
		assertThat(store().far().evict(this.key, lease.owner(), lease.epoch())).isEqualTo(Eviction.EVICTED);
		LockBackend.Lease successor = waiter.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS);
		assertThat(successor).isNotNull();
		assertThat(release(successor).get()).isTrue();
	}

	@Test
	@Tag("F81")
	final void evictionTouchesNobodyButTheOneWhoIsNamed() throws Exception {
		LockBackend.Lease before = acquired(store().near());
		assertThat(release(before).get()).isTrue();
		assertThat(evict(before.owner(), before.epoch())).isEqualTo(Eviction.NOT_HELD);
		LockBackend.Lease lease = acquired(store().near());
		assertThat(evict(before.owner(), before.epoch())).isEqualTo(Eviction.NOT_HELD);
		assertThat(evict(lease.owner(), before.epoch())).isEqualTo(Eviction.NOT_HELD);
		assertThat(evict(before.owner(), lease.epoch())).isEqualTo(Eviction.NOT_HELD);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(evict(lease.owner(), lease.epoch())).isEqualTo(Eviction.EVICTED);
		assertThat(evict(lease.owner(), lease.epoch())).isEqualTo(Eviction.NOT_HELD);
		assertThat(isHeld()).isFalse();
	}

	@Test
	@Tag("F81")
	final void forcedReleaseWakesTheNextOne() throws Exception {
		acquired(store().far());
		FutureTask<@Nullable TestLease> waiter = waiter();
		assertThat(store().far().forceRelease(this.key)).isTrue();
		TestLease successor = waiter.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS);
		assertThat(successor).isNotNull();
		assertThat(release(successor).get()).isTrue();
	}

	// The store itself

	@Test
	final void probeLeavesTheLockAlone() throws Exception {
		LockBackend.Lease lease = acquired(store().near());
		Status status = store().far().probe(this.key);
		assertThat(status).isNotNull();
		assertThat(status.topology()).isNotBlank();
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(release(lease).get()).isTrue();
		assertThat(store().far().ping()).isNotNull();
		assertThat(isHeld()).isFalse();
	}

	// What was removed

	@Test
	@Tag("F33")
	final void holderNoticesThatItsLockWasRemoved() throws Exception {
		LockBackend.Lease lease = acquired(store().near());
		store().remove(this.key);
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(release(lease).get()).isFalse();
	}

	@Test
	@Tag("F33")
	final void nextHolderOfALockThatWasRemovedIsNotDisturbed() throws Exception {
		LockBackend.Lease lease = acquired(store().near());
		store().remove(this.key);
		LockBackend.Lease successor = acquired(store().far());
		assertThat(successor.epoch()).isGreaterThan(lease.epoch());
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(successor.renew(PATIENCE)).isTrue();
		assertThat(release(lease).get()).isFalse();
		assertHeldBy(successor);
		assertThat(release(successor).get()).isTrue();
	}

	@Test
	@Tag("F06")
	final void lateReleaseReportsALossAlsoWhenTheNextHolderHasLeft() throws Exception {
		LockBackend.Lease lease = acquired(store().near());
		store().remove(this.key);
		assertThat(release(acquired(store().far())).get()).isTrue();
		assertThat(release(lease).get()).isFalse();
		assertThat(isHeld()).isFalse();
	}

	/**
	 * Nobody tells it of a release.
	 */
	@Test
	@Tag("F21")
	final void waiterGetsALockThatWasRemoved() throws Exception {
		acquired(store().far());
		FutureTask<LockBackend.@Nullable Lease> waiter = waiter();
		store().remove(this.key);
		LockBackend.Lease lease = waiter.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS);
		assertThat(lease).isNotNull();
		assertThat(release(lease).get()).isTrue();
	}

	// What is left of those who have given up

	@Test
	@Tag("F16")
	final void interruptedWaiterLeavesNothing() throws Exception {
		LockBackend.Lease lease = acquired(store().far());
		FutureTask<LockBackend.@Nullable Lease> waiter = new FutureTask<>(
				() -> store().near().acquire(request(PATIENCE)));
		Thread thread = new Thread(waiter);
		thread.start();
		await().atMost(PATIENCE).until(() -> store().isWaitedFor(this.key));
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(InterruptedException.class);
		await().atMost(PATIENCE).until(() -> !store().isWaitedFor(this.key));
		assertHeldBy(lease);
		assertThat(release(lease).get()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	@Tag("F22")
	final void waitersWhoGiveUpLeaveNothing() throws Exception {
		LockBackend.Lease lease = acquired(store().far());
		for (int i = 0; i < 20; i++) {
			assertThat(TestLease.acquire(store().near(), request(Duration.ofMillis(i)))).isNull();
		}
		await().atMost(PATIENCE).until(() -> !store().isWaitedFor(this.key));
		assertThat(release(lease).get()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	// Races

	@Test
	@Tag("F40")
	final void renewalNeverBringsAReleasedLockBack() throws Exception {
		renewWhileReleasing(ROUNDS);
	}

	@Test
	@Tag("F40")
	@Tag("long")
	@Timeout(900)
	final void renewalsNeverBringReleasedLocksBack() throws Exception {
		renewWhileReleasing(MANY_ROUNDS);
	}

	private void renewWhileReleasing(int rounds) throws Exception {
		for (int round = 0; round < rounds; round++) {
			LockBackend.Lease lease = store().near().acquire(request(NO_WAIT));
			assertThat(lease).as("round %d", round).isNotNull();
			FutureTask<Boolean> renewal = start(() -> lease.renew(PATIENCE));
			assertThat(release(lease).get()).as("round %d", round).isTrue();
			renewal.get();
			assertThat(lease.isValid()).isFalse();
		}
		assertThat(isHeld()).isFalse();
	}

	/**
	 * Fails unless a lease is the one that holds the lock.
	 * @param lease the lease
	 */
	protected final void assertHeldBy(TestLease lease) {
		assertThat(store().far().holder(this.key)).extracting(LockHolder::epoch).isEqualTo(lease.epoch());
	}

	/**
	 * Lets the first node wait for the lock.
	 * @return its outcome; the wait has begun
	 */
	protected final FutureTask<LockBackend.@Nullable Lease> waiter() {
		FutureTask<LockBackend.@Nullable Lease> waiter = start(() -> store().near().acquire(request(PATIENCE)));
		await().atMost(PATIENCE).until(() -> store().isWaitedFor(this.key));
		return waiter;
	}

}
