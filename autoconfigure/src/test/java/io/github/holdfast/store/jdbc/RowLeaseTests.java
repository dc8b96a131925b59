package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When the next thread of a JVM may ask for the row.
 */
class RowLeaseTests {

	private final AtomicInteger asked = new AtomicInteger();

	@Test
	void nextOneFollowsWhenARowThatIsFreedEarlyIsLocked() {
		RowLease lease = lease(true);
		assertThat(this.asked).hasValue(0);
		lease.taken(1);
		assertThat(this.asked).hasValue(1);
		lease.release();
		assertThat(this.asked).hasValue(1);
	}

	@Test
	void nextOneFollowsAtTheEndElsewhere() {
		RowLease lease = lease(false);
		lease.taken(1);
		assertThat(this.asked).hasValue(0);
		lease.over(RowLease.State.ENDED);
		assertThat(this.asked).hasValue(1);
		lease.release();
		assertThat(this.asked).hasValue(1);
	}

	@Test
	void nextOneFollowsWhenTheRowWasNotLocked() {
		lease(false).over(RowLease.State.LOST);
		lease(true).over(RowLease.State.LOST);
		assertThat(this.asked).hasValue(2);
	}

	private RowLease lease(boolean freedEarly) {
		RowLease lease = new RowLease(new LockRequest("key", "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO,
				Duration.ofMinutes(1), "owner", "holder", 0), freedEarly, (epoch) -> {
					throw new IllegalStateException("Nothing is kept");
				});
		lease.whenNextMayAsk(this.asked::incrementAndGet);
		return lease;
	}

}
