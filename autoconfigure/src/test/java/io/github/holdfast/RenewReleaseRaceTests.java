package io.github.holdfast;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewals of a lease that is released at the same moment. What they leave behind would
 * keep the next round from getting the lock.
 */
@Tag("F40")
class RenewReleaseRaceTests {

	/** The number of rounds of each backend, if it is to be another one. */
	private static final Integer ROUNDS = Integer.getInteger("holdfast.test.race-rounds");

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void renewalNeverOutlivesTheRelease(TestBackend backend) {
		int rounds = (ROUNDS != null) ? ROUNDS : (backend.hasLockTable() ? 1_000 : 100_000);
		backend.application().run((context) -> race(context.getBean(LockBackend.class), rounds));
	}

	private static void race(LockBackend backend, int rounds) throws Exception {
		String key = "race:" + UUID.randomUUID();
		LockLease first = acquire(backend, key);
		AtomicReference<LockLease> current = new AtomicReference<>(first);
		AtomicLong renewed = new AtomicLong();
		CompletableFuture<Void> renewing = CompletableFuture.runAsync(() -> renew(current, renewed));
		assertThat(first.release().toCompletableFuture().join()).isTrue();
		try {
			for (int round = 0; round < rounds; round++) {
				LockLease lease = acquire(backend, key);
				current.set(lease);
				if (round % 2 == 0) {
					long before = renewed.get();
					while (renewed.get() == before && !renewing.isDone()) {
						Thread.onSpinWait();
					}
				}
				assertThat(lease.release().toCompletableFuture().join()).as("release of round %d", round).isTrue();
				assertThat(lease.isValid()).isFalse();
			}
		}
		finally {
			current.set(null);
		}
		renewing.get(60, TimeUnit.SECONDS);
		assertThat(renewed).hasValueGreaterThanOrEqualTo(rounds / 2);
	}

	/**
	 * Also the renewals that come after the release, which must not help a released
	 * lease.
	 */
	private static void renew(AtomicReference<LockLease> current, AtomicLong renewed) {
		for (LockLease lease = current.get(); lease != null; lease = current.get()) {
			if (lease.renew(LEASE_TIME)) {
				renewed.incrementAndGet();
			}
		}
	}

	private static LockLease acquire(LockBackend backend, String key) throws InterruptedException {
		LockLease lease = backend.acquire(new LockRequest(key, "race", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO,
				LEASE_TIME, UUID.randomUUID().toString(), "race test", 0));
		assertThat(lease).as("what is left of the last round").isNotNull();
		return lease;
	}

}
