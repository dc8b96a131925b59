package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link ExpiringLease}.
 */
@Timeout(60)
class ExpiringLeaseTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Duration SHORT = Duration.ofSeconds(30);

	@Test
	void leaseEndsNoLaterThanItsStoreSaysAlthoughTwoRenewItAtOnce() throws Exception {
		SlowLease lease = new SlowLease();
		Thread first = new Thread(() -> lease.renew(LONG));
		first.start();
		lease.extended.await();
		Thread second = new Thread(() -> lease.renew(SHORT));
		second.start();
		await().until(() -> second.getState() == Thread.State.WAITING || second.getState() == Thread.State.TERMINATED);
		lease.answer.countDown();
		first.join();
		second.join();
		assertThat(lease.remaining()).isLessThanOrEqualTo(lease.inStore);
	}

	@Test
	void storeMayHaveExtendedALeaseWithoutAnAnswer() {
		SlowLease lease = new SlowLease();
		lease.answer.countDown();
		lease.failure = new LockBackendException("key", "could not be renewed", null);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(LONG.multipliedBy(2)));
		assertThat(lease.remaining()).isLessThanOrEqualTo(LONG);
		assertThat(lease.end().remaining()).isGreaterThan(LONG);
		lease.failure = null;
		assertThat(lease.renew(SHORT)).isTrue();
		assertThat(lease.end().remaining()).isLessThanOrEqualTo(SHORT);
	}

	/**
	 * The first extension takes effect at once, but its answer is late.
	 */
	private static final class SlowLease extends ExpiringLease {

		private final CountDownLatch extended = new CountDownLatch(1);

		private final CountDownLatch answer = new CountDownLatch(1);

		private volatile Duration inStore = LONG;

		private volatile @Nullable LockBackendException failure;

		SlowLease() {
			super(new LockRequest("key", "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO, LONG, "owner",
					"test", 0), 1, Deadline.ofLease(LONG));
		}

		@Override
		protected CompletionStage<Boolean> extend(Duration leaseTime) {
			this.inStore = leaseTime;
			if (this.extended.getCount() > 0) {
				this.extended.countDown();
				try {
					this.answer.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
			LockBackendException failure = this.failure;
			if (failure != null) {
				throw failure;
			}
			return CompletableFuture.completedStage(true);
		}

		@Override
		protected CompletionStage<Boolean> giveBack() {
			return CompletableFuture.completedStage(true);
		}

	}

}
