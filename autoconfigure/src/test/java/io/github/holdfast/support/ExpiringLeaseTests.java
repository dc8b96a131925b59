package io.github.holdfast.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
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

	/**
	 * The first extension takes effect at once, but its answer is late.
	 */
	private static final class SlowLease extends ExpiringLease {

		private final CountDownLatch extended = new CountDownLatch(1);

		private final CountDownLatch answer = new CountDownLatch(1);

		private volatile Duration inStore = LONG;

		SlowLease() {
			super(new LockRequest("key", "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO, LONG, "owner",
					"test", 0), 1, Deadline.ofLease(LONG));
		}

		@Override
		protected boolean extend(Duration leaseTime) {
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
			return true;
		}

		@Override
		protected CompletionStage<Boolean> giveBack() {
			return CompletableFuture.completedStage(true);
		}

	}

}
