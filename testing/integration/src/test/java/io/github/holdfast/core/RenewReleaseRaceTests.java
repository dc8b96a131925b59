package io.github.holdfast.core;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each lease is renewed at the moment of its release, and once more after it. What such a
 * renewal leaves behind would keep the next round from getting the lock.
 */
@Tag("F40")
@Tag("race")
class RenewReleaseRaceTests {

	/** The number of rounds on each backend, if it is to be another one. */
	private static final @Nullable Integer ROUNDS = Integer.getInteger("test.race-rounds");

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	/**
	 * The statement of a renewal that comes too late may have the row locked for a
	 * moment. A renewal that succeeds keeps the lock for longer than this.
	 */
	private static final Duration WAIT_TIME = LEASE_TIME.dividedBy(2);

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void renewalNeverOutlivesTheRelease(TestBackend backend) {
		int rounds = (ROUNDS != null) ? ROUNDS : (backend.hasLockTable() ? 300 : 100_000);
		backend.application().run((context) -> {
			Renewer renewer = new Renewer();
			CompletableFuture<Void> renewing = CompletableFuture.runAsync(renewer, (task) -> new Thread(task).start());
			try {
				race(context.getBean(LockBackend.class), rounds, renewer);
			}
			finally {
				renewer.stopped = true;
			}
			renewing.get(60, TimeUnit.SECONDS);
		});
	}

	private static void race(LockBackend backend, int rounds, Renewer renewer) throws InterruptedException {
		String key = "race:" + UUID.randomUUID();
		for (int round = 0; round < rounds; round++) {
			LockLease lease = backend.acquire(new LockRequest(key, "race", LockMode.EXCLUSIVE, false, WAIT_TIME,
					LEASE_TIME, UUID.randomUUID().toString(), "race test", 0));
			assertThat(lease).as("round %d, after what is left of the last one", round).isNotNull();
			renewer.start(lease);
			assertThat(lease.release().toCompletableFuture().join()).as("release of round %d", round).isTrue();
			assertThat(lease.isValid()).isFalse();
			assertThat(lease.renew(LEASE_TIME)).isFalse();
		}
	}

	/**
	 * Renews what it is given, on a thread of its own.
	 */
	private static final class Renewer implements Runnable {

		private volatile @Nullable LockLease next;

		private volatile boolean stopped;

		private volatile @Nullable RuntimeException failure;

		private void start(LockLease lease) {
			this.next = lease;
			while (this.next == lease && this.failure == null) {
				Thread.yield();
			}
			assertThat(this.failure).isNull();
		}

		@Override
		public void run() {
			try {
				while (!this.stopped) {
					renewNext();
				}
			}
			catch (RuntimeException ex) {
				this.failure = ex;
			}
		}

		private void renewNext() {
			LockLease lease = this.next;
			if (lease == null) {
				Thread.yield();
				return;
			}
			this.next = null;
			lease.renew(LEASE_TIME);
			lease.renew(LEASE_TIME);
		}

	}

}
