package io.github.holdfast.handover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.local.LocalLockBackend;
import io.github.holdfast.support.QueueLimits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Leases of one call that are renewed together, while other threads wait for some of
 * them.
 */
@Timeout(60)
@Tag("F76")
@Tag("race")
class JointRenewalOfTurnsTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final String prefix = UUID.randomUUID() + "/";

	private final Store store = new Store();

	private final HandoverLockBackend backend = new HandoverLockBackend(this.store,
			new HandoverLimits(16, LONG, (name) -> true), QueueLimits.DEFAULT);

	@Test
	void storeIsAskedOnceForAllThatAreStillHeld() throws Exception {
		List<LockLease> leases = acquire("c", "a", "b", "d");
		leases.get(1).release().toCompletableFuture().join();
		assertThat(answers(leases)).containsExactly(true, false, true, true);
		assertThat(this.store.requests).containsExactly(List.of("c", "b", "d"));
		assertThat(this.store.ofStore).allMatch((lease) -> !(lease instanceof TurnLease));
	}

	@Test
	void leaseThatPassedByTheQueueIsRenewedWithTheOthers() throws Exception {
		List<LockLease> leases = acquire("a");
		LockLease shared = this.backend.acquire(request("s", LockRequest.Mode.SHARED));
		assertThat(shared).isNotNull();
		leases.add(shared);
		assertThat(answers(leases)).containsExactly(true, true);
		assertThat(this.store.requests).containsExactly(List.of("a", "s"));
	}

	@Test
	void noTurnPassesWhileTheRenewalIsUnderWay() throws Exception {
		List<LockLease> leases = acquire("a", "b");
		FutureTask<LockLease> waiter = waitFor("b");
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asked = new CountDownLatch(1);
		this.store.beforeAnswer = () -> {
			asked.countDown();
			awaitUninterruptibly(answer);
		};
		FutureTask<List<Boolean>> renewal = started(() -> answers(leases));
		assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
		assertThat(leases.get(1).handOver()).isFalse();
		answer.countDown();
		assertThat(renewal.get()).containsExactly(true, true);
		assertThat(leases.get(1).handOver()).isTrue();
		assertThat(waiter.get().turn()).isOne();
	}

	/**
	 * The store would extend the lease that another thread has by now.
	 */
	@Test
	void turnThatIsOverIsNotRenewedForTheNextHolder() throws Exception {
		List<LockLease> leases = acquire("a", "b");
		FutureTask<LockLease> waiter = waitFor("b");
		assertThat(leases.get(1).handOver()).isTrue();
		LockLease next = waiter.get();
		assertThat(answers(leases)).containsExactly(true, false);
		assertThat(this.store.requests).containsExactly(List.of("a"));
		assertThat(next.isValid()).isTrue();
	}

	@Test
	void oneThatFailsOrIsLostIsNotHandedOverAndTheOthersAre() throws Exception {
		List<LockLease> leases = acquire("failing", "good", "lost");
		FutureTask<LockLease> good = waitFor("good");
		FutureTask<LockLease> failing = waitFor("failing");
		List<CompletionStage<Boolean>> answers = this.backend.renewAll(leases, LONG);
		assertThat(answers.get(0).toCompletableFuture()).isCompletedExceptionally();
		assertThat(answers.get(1).toCompletableFuture().join()).isTrue();
		assertThat(answers.get(2).toCompletableFuture().join()).isFalse();
		assertThat(leases.get(0).handOver()).isFalse();
		assertThat(leases.get(1).handOver()).isTrue();
		assertThat(good.get().turn()).isOne();
		leases.get(0).release().toCompletableFuture().join();
		assertThat(failing.get().turn()).isZero();
	}

	@Test
	void requestThatFailsLeavesNothingLocked() throws Exception {
		List<LockLease> leases = acquire("a", "b");
		FutureTask<LockLease> waiter = waitFor("b");
		this.store.beforeAnswer = () -> {
			throw new IllegalStateException("fails");
		};
		FutureTask<List<Boolean>> renewal = started(() -> answers(leases));
		assertThat(renewal).failsWithin(LONG);
		assertThat(leases.get(1).handOver()).as("nobody knows what has become of it").isFalse();
		this.store.beforeAnswer = () -> {
		};
		assertThat(answers(leases)).containsExactly(true, true);
		assertThat(leases.get(1).handOver()).isTrue();
		assertThat(waiter.get().turn()).isOne();
	}

	@Test
	void twoRenewalsOfTheSameLeasesDoNotWaitForEachOther() throws Exception {
		renewInBothOrders(2000);
	}

	@Test
	@Tag("long")
	void manyRenewalsOfTheSameLeasesDoNotWaitForEachOther() throws Exception {
		renewInBothOrders(20_000);
	}

	private void renewInBothOrders(int rounds) throws Exception {
		List<LockLease> leases = acquire("a", "b", "c");
		List<LockLease> reversed = new ArrayList<>(leases);
		Collections.reverse(reversed);
		FutureTask<Void> one = started(() -> {
			for (int i = 0; i < rounds; i++) {
				answers(leases);
			}
			return null;
		});
		FutureTask<Void> other = started(() -> {
			for (int i = 0; i < rounds; i++) {
				answers(reversed);
			}
			return null;
		});
		assertThat(one).succeedsWithin(LONG);
		assertThat(other).succeedsWithin(LONG);
	}

	private List<Boolean> answers(List<LockLease> leases) {
		return this.backend.renewAll(leases, LONG)
			.stream()
			.map((answer) -> answer.toCompletableFuture().join())
			.toList();
	}

	private List<LockLease> acquire(String... keys) throws InterruptedException {
		List<LockLease> leases = new ArrayList<>();
		for (String key : keys) {
			leases.add(this.backend.acquire(request(key, LockRequest.Mode.EXCLUSIVE)));
		}
		assertThat(leases).doesNotContainNull();
		return leases;
	}

	private FutureTask<LockLease> waitFor(String key) {
		FutureTask<LockLease> task = new FutureTask<>(
				() -> this.backend.acquire(request(key, LockRequest.Mode.EXCLUSIVE)));
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
		await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
		return task;
	}

	private static <T> FutureTask<T> started(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
		return task;
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private LockRequest request(String key, LockRequest.Mode mode) {
		return new LockRequest(this.prefix + key, "test", mode, false, LONG, LONG, UUID.randomUUID().toString(), "test",
				0);
	}

	/**
	 * Grants whatever it is asked for, and notes what it is to renew.
	 */
	private static final class Store implements LockBackend {

		private final List<List<String>> requests = new CopyOnWriteArrayList<>();

		private final List<LockLease> ofStore = new CopyOnWriteArrayList<>();

		private volatile Runnable beforeAnswer = () -> {
		};

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			return new LocalLockBackend().acquire(new LockRequest(request.key(), request.name(),
					LockRequest.Mode.EXCLUSIVE, false, request.waitTime(), request.leaseTime(), request.owner(),
					request.holder(), request.minEpoch()));
		}

		@Override
		public List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime) {
			this.requests.add(leases.stream().map(Store::name).toList());
			this.ofStore.addAll(leases);
			this.beforeAnswer.run();
			return leases.stream()
				.map((lease) -> name(lease).equals("failing")
						? CompletableFuture.<Boolean>failedStage(new LockBackendException(lease.key(), "fails", null))
						: CompletableFuture.completedStage(!name(lease).equals("lost")))
				.toList();
		}

		private static String name(LockLease lease) {
			return lease.key().substring(lease.key().indexOf('/') + 1);
		}

		@Override
		public int renewedTogether() {
			return 100;
		}

		@Override
		public Set<Capability> capabilities() {
			return Set.of();
		}

	}

}
