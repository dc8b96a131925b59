package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Leases on a store that works are renewed, whatever another one does.
 */
@Timeout(120)
@Tag("F93")
class StarvedRenewalTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofSeconds(2);

	/** More than there are threads. */
	private static final List<String> KEYS = IntStream.range(0, 12).mapToObj((i) -> "key-" + i).toList();

	private final FakeLockBackend sick = new FakeLockBackend();

	private final FakeLockBackend healthy = new FakeLockBackend();

	private final CountDownLatch over = new CountDownLatch(1);

	private final LockTemplate locks = new LockTemplate(() -> this.healthy,
			(name) -> name.equals("sick") ? this.sick : null, List::of)
		.withLeaseTime(LEASE);

	@AfterEach
	void close() {
		this.over.countDown();
		TemplateAccess.close(this.locks);
	}

	@Test
	void storeWhoseRenewalsHangDoesNotHoldUpThoseOfAnother() {
		this.sick.renewal = (lease) -> {
			awaitUninterrupted(this.over);
			return true;
		};
		this.locks.withName("sick").execute(KEYS, () -> {
			this.locks.run("fine", () -> {
				await().atMost(PATIENCE).until(() -> this.sick.renewals.get() == 4);
				int before = this.healthy.renewals.get();
				await().atMost(PATIENCE).until(() -> this.healthy.renewals.get() > before + 5);
				await().atMost(PATIENCE).until(LockContext.current().orElseThrow()::isValid);
			});
			this.over.countDown();
			return null;
		});
	}

	/**
	 * As with a Cluster, one of whose masters does not answer.
	 */
	@Test
	void renewalsWithoutAnAnswerTakeNoThread() {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.healthy.renewalAnswer = answer;
		this.locks.execute(KEYS, () -> {
			await().atMost(PATIENCE).until(() -> answer.getNumberOfDependents() == KEYS.size());
			this.healthy.renewalAnswer = null;
			this.locks.run("fine", () -> await().atMost(PATIENCE).until(() -> this.healthy.renewals.get() > 5));
			answer.complete(true);
			return null;
		});
	}

	@Test
	void leaseThatHasRunOutComesLast() {
		List<String> order = new CopyOnWriteArrayList<>();
		ScheduledThreadPoolExecutor timer = LockRenewal.timer();
		try (LockRenewal renewal = new LockRenewal(timer, "test")) {
			CountDownLatch busy = new CountDownLatch(4);
			CountDownLatch one = new CountDownLatch(1);
			long now = System.nanoTime();
			for (int i = 0; i < 4; i++) {
				CountDownLatch until = (i == 0) ? one : this.over;
				renewal.schedule("busy", () -> {
					busy.countDown();
					awaitUninterrupted(until);
				}, () -> now, 0);
			}
			await().atMost(PATIENCE).until(() -> busy.getCount() == 0);
			renewal.schedule("late", () -> order.add("late"), () -> now - 1, 0);
			renewal.schedule("later", () -> order.add("later"), () -> now + Duration.ofHours(2).toNanos(), 0);
			renewal.schedule("soon", () -> order.add("soon"), () -> now + Duration.ofHours(1).toNanos(), 0);
			await().atMost(PATIENCE).until(() -> timer.getQueue().isEmpty() && timer.getActiveCount() == 0);
			one.countDown();
			await().atMost(PATIENCE).until(() -> order.size() == 3);
		}
		finally {
			timer.shutdownNow();
		}
		assertThat(order).containsExactly("soon", "later", "late");
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			// The engine ends
		}
	}

}
