package io.github.holdfast.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a {@link LockBackend} must do beyond {@link LockBackendContractTests} if its
 * leases expire by time.
 */
public abstract class LeaseExpiryContractTests extends LockBackendContractTests {

	private static final Duration SHORT = Duration.ofSeconds(1);

	/** The store's clock and that of this JVM can have different resolutions. */
	private static final Duration RESOLUTION = Duration.ofMillis(20);

	@Test
	final void expiredLeaseFreesTheLockAndItsRenewalReportsTheLoss() throws Exception {
		String key = newKey();
		long start = System.nanoTime();
		HeldLock stale = acquired(backend(), request(key, NO_WAIT, SHORT));
		HeldLock successor = acquired(secondBackend(), request(key, LONG));
		assertThat(since(start)).isBetween(SHORT.minus(RESOLUTION), SHORT.plus(SLACK));
		assertThat(successor.epoch()).isGreaterThan(stale.epoch());
		assertThat(successor.isValid()).isTrue();
		assertHeld(key);
		assertThat(stale.renew(LONG)).isFalse();
		assertThat(stale.isValid()).isFalse();
		assertThat(stale.remaining()).isEqualTo(Duration.ZERO);
		assertHeld(key);
		assertThat(successor.renew(LONG)).isTrue();
		assertReleased(successor);
	}

	@Test
	final void expiredLeaseFreesTheLockForItsOwnClient() throws Exception {
		String key = newKey();
		acquired(backend(), request(key, NO_WAIT, SHORT));
		assertReleased(acquired(backend(), request(key, LONG)));
	}

	@Test
	final void expiredLeaseIsFreeWithoutWaiting() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), request(key, NO_WAIT, SHORT));
		awaitExpiry(lease);
		HeldLock successor = await().atMost(SLACK)
			.until(() -> acquire(secondBackend(), request(key, NO_WAIT)), (it) -> it != null);
		assertReleased(successor);
	}

	@Test
	final void releaseAfterExpiryDoesNotFreeSuccessor() throws Exception {
		String key = newKey();
		HeldLock stale = acquired(backend(), request(key, NO_WAIT, SHORT));
		HeldLock successor = acquired(secondBackend(), request(key, LONG));
		assertThat(stale.release()).isFalse();
		assertHeld(key);
		assertReleased(successor);
	}

	@Test
	final void staleRenewReportsLossAfterTheSuccessorHasLeft() throws Exception {
		String key = newKey();
		HeldLock stale = acquired(backend(), request(key, NO_WAIT, SHORT));
		assertReleased(acquired(secondBackend(), request(key, LONG)));
		assertThat(stale.renew(LONG)).isFalse();
		assertThat(stale.release()).isFalse();
		assertFree(key);
	}

	@Test
	final void renewOutlivesOriginalLease() throws Exception {
		HeldLock lease = renewedInTime((key) -> request(key, NO_WAIT, SHORT), LONG, (acquired) -> {
		});
		assertThat(acquire(secondBackend(), request(lease.key(), SHORT.multipliedBy(2)))).isNull();
		assertThat(lease.isValid()).isTrue();
		assertThat(remaining(lease)).isBetween(SHORT, LONG);
		assertReleased(lease);
	}

	@Test
	final void renewalMayShortenTheLease() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), request(key, NO_WAIT, LONG));
		assertThat(lease.renew(SHORT)).isTrue();
		assertThat(remaining(lease)).isLessThanOrEqualTo(SHORT);
		long start = System.nanoTime();
		assertReleased(acquired(secondBackend(), request(key, LONG)));
		assertThat(since(start)).isLessThan(SHORT.plus(SLACK));
	}

	/** Not only when the time is over that the waiter found at first. */
	@Test
	final void waiterIsServedWhenAShortenedLeaseEnds() throws Exception {
		List<HeldLock> leases = new ArrayList<>();
		List<Waiter<@Nullable HeldLock>> waiters = new ArrayList<>();
		for (LockBackend client : List.of(backend(), secondBackend())) {
			String key = newKey();
			leases.add(acquired(backend(), request(key, NO_WAIT, LONG.multipliedBy(2))));
			waiters.add(waiter(client, key, LONG));
		}
		await().during(Duration.ofMillis(300)).atMost(SLACK).until(() -> waiters.stream().noneMatch(Waiter::isDone));
		long start = System.nanoTime();
		for (HeldLock lease : leases) {
			assertThat(lease.renew(SHORT)).isTrue();
		}
		for (Waiter<@Nullable HeldLock> waiter : waiters) {
			assertReleased(waiter.result());
		}
		assertThat(since(start)).isLessThan(SHORT.plus(SLACK));
	}

	@Test
	final void leaseIsNotValidOnceExpired() throws Exception {
		long start = System.nanoTime();
		HeldLock lease = acquired(backend(), request(newKey(), NO_WAIT, SHORT));
		awaitExpiry(lease);
		assertThat(since(start)).isGreaterThanOrEqualTo(SHORT.dividedBy(2));
		assertThat(lease.remaining()).isEqualTo(Duration.ZERO);
		assertThat(lease.isValid()).isFalse();
	}

	@Test
	final void remainingNeverExceedsLeaseTime() throws Exception {
		HeldLock lease = acquired(backend(), request(newKey(), NO_WAIT, LONG));
		// The lower bound leaves room for what a backend takes off for clock drift
		assertThat(remaining(lease)).isBetween(LONG.dividedBy(2), LONG);
		Duration before = remaining(lease);
		await().atMost(SLACK).until(() -> remaining(lease).compareTo(before) < 0);
		assertThat(lease.renew(SHORT.multipliedBy(10))).isTrue();
		assertThat(remaining(lease)).isBetween(SHORT.multipliedBy(5), SHORT.multipliedBy(10));
	}

	/**
	 * A lease counted from the reply would still look valid to its holder when the store
	 * has granted the lock to a successor.
	 */
	@Test
	final void leaseRunsFromBeforeTheRequest() throws Exception {
		List<Waiter<Boolean>> overlaps = waiters(3, () -> {
			String key = newKey();
			HeldLock lease = acquired(backend(), request(key, NO_WAIT, SHORT));
			HeldLock successor = acquire(secondBackend(), request(key, LONG));
			boolean overlap = lease.isValid();
			assertThat(successor).isNotNull();
			return overlap;
		});
		assertThat(results(overlaps)).containsOnly(false);
	}

	@Test
	final void leaseAfterAWaitRunsFromItsGrant() throws Exception {
		String key = newKey();
		long start = System.nanoTime();
		acquired(backend(), request(key, NO_WAIT, SHORT.multipliedBy(2)));
		HeldLock successor = acquired(secondBackend(), request(key, LONG, SHORT.multipliedBy(4)));
		// About 6 s, but 4 s if it ran from the beginning of the wait
		assertThat(remaining(successor).plus(since(start))).isGreaterThan(SHORT.multipliedBy(5));
	}

	@Test
	final void waiterIsNotServedBeforeTheRenewedLeaseEnds() throws Exception {
		AtomicReference<Waiter<@Nullable HeldLock>> waiter = new AtomicReference<>();
		AtomicLong start = new AtomicLong();
		renewedInTime((key) -> request(key, NO_WAIT, SHORT), SHORT.multipliedBy(3), (acquired) -> {
			waiter.set(waiter(secondBackend(), acquired.key(), LONG));
			start.set(System.nanoTime());
		});
		assertThat(waiter.get().result()).isNotNull();
		assertThat(since(start.get())).isGreaterThanOrEqualTo(SHORT.multipliedBy(3).minus(RESOLUTION));
	}

	/**
	 * Renews a short lease. If the machine stood still until it may have been over, it is
	 * tried again with another key.
	 */
	final HeldLock renewedInTime(Function<String, LockRequest> request, Duration leaseTime, BeforeRenewal beforeRenewal)
			throws Exception {
		HeldLock lease;
		boolean renewed;
		int attempts = 0;
		long start;
		do {
			start = System.nanoTime();
			lease = acquired(backend(), request.apply(newKey()));
			beforeRenewal.run(lease);
			renewed = lease.renew(leaseTime);
			attempts++;
		}
		while (!renewed && attempts < 5 && since(start).compareTo(SHORT.minusMillis(100)) > 0);
		assertThat(renewed).as("renewed in attempt %d", attempts).isTrue();
		return lease;
	}

	private static void awaitExpiry(HeldLock lease) {
		await().atMost(SHORT.plus(SLACK)).until(() -> !lease.isValid());
	}

	private static Duration remaining(HeldLock lease) {
		Duration remaining = lease.remaining();
		assertThat(remaining).isNotNull();
		return remaining;
	}

	/** What a test does with a short lease. */
	@FunctionalInterface
	interface BeforeRenewal {

		void run(HeldLock lease) throws Exception;

	}

}
