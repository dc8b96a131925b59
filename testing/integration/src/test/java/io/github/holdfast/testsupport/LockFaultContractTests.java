package io.github.holdfast.testsupport;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.ManageableLockBackend.Status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

/**
 * What a {@link LockBackend} has to do when something is wrong with a lock: it is removed
 * from the store, released too late, renewed while it is released, or given up while it
 * is waited for. Another node sees what is left. To test a backend, extend this class.
 */
@Timeout(180)
public abstract class LockFaultContractTests extends StoreContract {

	@Test
	final void holderIsReportedWithWhatTheStoreKnows() throws Exception {
		assertThat(store().far().holder(this.key)).isNull();
		TestLease lease = acquired(store().near());
		LockHolder holder = store().far().holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.description()).startsWith("held by test");
		assertThat(holder.epoch()).isEqualTo(lease.epoch());
		assertThat(holder.since() != null).isEqualTo(store().told().contains(TestStore.Told.SINCE));
		assertThat(holder.expires() != null).isEqualTo(store().told().contains(TestStore.Told.EXPIRES));
		assertThat(Stream.of(holder.since(), holder.expires()).filter(Objects::nonNull))
			.allSatisfy((time) -> assertThat(time).isCloseTo(Instant.now(), within(90, ChronoUnit.SECONDS)));
		assertThat(release(lease).get()).isTrue();
		assertThat(store().far().holder(this.key)).isNull();
	}

	@Test
	final void holderNoticesAForcedReleaseAndTheNextOneGetsTheLock() throws Exception {
		assertThat(store().far().forceRelease(this.key)).isFalse();
		TestLease lease = acquired(store().near());
		assertThat(store().far().forceRelease(this.key)).isTrue();
		TestLease successor = acquired(store().far());
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(release(lease).get()).isFalse();
		assertHeldBy(successor);
		assertThat(release(successor).get()).isTrue();
		assertThat(store().far().forceRelease(this.key)).isFalse();
		assertThat(isHeld()).isFalse();
	}

	@Test
	final void forcedReleaseWakesTheNextOne() throws Exception {
		acquired(store().far());
		FutureTask<@Nullable TestLease> waiter = waiter();
		assertThat(store().far().forceRelease(this.key)).isTrue();
		TestLease successor = waiter.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS);
		assertThat(successor).isNotNull();
		assertThat(release(successor).get()).isTrue();
	}

	@Test
	final void pingLeavesTheLockAlone() throws Exception {
		TestLease lease = acquired(store().near());
		Status status = store().far().ping();
		assertThat(status).isNotNull();
		assertThat(status.topology()).isNotBlank();
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(release(lease).get()).isTrue();
		assertThat(store().far().ping()).isNotNull();
		assertThat(isHeld()).isFalse();
	}

	@Test
	final void holderNoticesThatItsLockWasRemoved() throws Exception {
		TestLease lease = acquired(store().near());
		store().remove(this.key);
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(release(lease).get()).isFalse();
	}

	@Test
	final void nextHolderOfALockThatWasRemovedIsNotDisturbed() throws Exception {
		TestLease lease = acquired(store().near());
		store().remove(this.key);
		TestLease successor = acquired(store().far());
		assertThat(successor.epoch()).isGreaterThan(lease.epoch());
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertThat(successor.renew(PATIENCE)).isTrue();
		assertThat(release(lease).get()).isFalse();
		assertHeldBy(successor);
		assertThat(release(successor).get()).isTrue();
	}

	@Test
	final void lateReleaseReportsALossAlsoWhenTheNextHolderHasLeft() throws Exception {
		TestLease lease = acquired(store().near());
		store().remove(this.key);
		assertThat(release(acquired(store().far())).get()).isTrue();
		assertThat(release(lease).get()).isFalse();
		assertThat(isHeld()).isFalse();
	}

	/** Nobody tells it of a release. */
	@Test
	final void waiterGetsALockThatWasRemoved() throws Exception {
		acquired(store().far());
		FutureTask<@Nullable TestLease> waiter = waiter();
		store().remove(this.key);
		TestLease lease = waiter.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS);
		assertThat(lease).isNotNull();
		assertThat(release(lease).get()).isTrue();
	}

	@Test
	final void interruptedWaiterLeavesNothing() throws Exception {
		TestLease lease = acquired(store().far());
		FutureTask<@Nullable TestLease> waiter = new FutureTask<>(
				() -> TestLease.acquire(store().near(), request(PATIENCE)));
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

	/** Fails unless a lease is the one that holds the lock. */
	protected final void assertHeldBy(TestLease lease) {
		assertThat(store().far().holder(this.key)).extracting(LockHolder::epoch).isEqualTo(lease.epoch());
	}

	/** Lets the first node wait for the lock. */
	protected final FutureTask<@Nullable TestLease> waiter() {
		FutureTask<@Nullable TestLease> waiter = Threads
			.start(() -> TestLease.acquire(store().near(), request(PATIENCE)));
		await().atMost(PATIENCE).until(() -> store().isWaitedFor(this.key));
		return waiter;
	}

}
