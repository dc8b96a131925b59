package io.github.holdfast.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * When a lease of the store goes from thread to thread, and when it must not.
 */
@Tag("race")
class HandingOverTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final Store store = new Store();

	private HandoverLockBackend backend = backend(16, LONG);

	@Test
	void nextThreadGetsTheSameLeaseWithAHigherToken() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		assertThat(handOver(first).toCompletableFuture().join()).isTrue();
		LockLease second = waiter.lease();
		assertThat(this.store.requests).hasSize(1);
		assertThat(second.epoch()).isEqualTo(first.epoch());
		assertThat(second.owner()).isEqualTo(first.owner());
		assertThat(second.turn()).isEqualTo(1);
		assertThat(second.token()).isGreaterThan(first.token());
		assertThat(second.isValid()).isTrue();
		assertThat(handOver(second).toCompletableFuture().join()).isTrue();
		assertThat(this.store.released).hasValue(1);
	}

	@Test
	void turnThatIsOverProvesNothingAndAsksNothing() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		handOver(first);
		LockLease second = waiter.lease();
		assertThat(first.isValid()).isFalse();
		assertThat(first.remaining()).isZero();
		assertThat(first.renew(LONG)).isFalse();
		assertThat(handOver(first).toCompletableFuture().join()).isFalse();
		assertThat(first.release().toCompletableFuture().join()).isFalse();
		assertThat(this.store.renewals).isEmpty();
		assertThat(this.store.released).hasValue(0);
		assertThat(second.isValid()).isTrue();
	}

	@Test
	void turnThatNobodyWaitsForIsNotHandedOver() throws Exception {
		LockLease lease = acquire(request());
		assertThat(lease.handOver()).isFalse();
		assertThat(lease.isValid()).isTrue();
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
		assertThat(this.store.released).hasValue(1);
	}

	@Test
	void turnIsHandedOverOnce() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		Waiter other = new Waiter(request());
		assertThat(first.handOver()).isTrue();
		assertThat(first.handOver()).isFalse();
		assertThat(waiter.lease().isValid()).isTrue();
		handOver(waiter.lease());
		assertThat(other.lease().turn()).isEqualTo(2);
	}

	@Test
	void releaseGoesToTheStore() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		first.release();
		assertThat(waiter.lease().epoch()).isGreaterThan(first.epoch());
	}

	@Test
	void storeGetsTheLockBackAfterTheLastTurn() throws Exception {
		this.backend = backend(4, LONG);
		assertThat(runInTurn(12)).containsExactly(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
		assertThat(this.store.requests).hasSize(3);
	}

	@Test
	void turnsDoNotCountWhileNobodyElseWaits() throws Exception {
		this.backend = backend(2, LONG);
		this.store.othersWait = CompletableFuture.completedStage(false);
		assertThat(runInTurn(20)).endsWith(17, 18, 19);
		assertThat(this.store.requests).hasSize(1);
	}

	@Test
	void turnsCountAgainWhenSomebodyElseWaits() throws Exception {
		this.backend = backend(2, Duration.ofSeconds(8));
		this.store.othersWait = CompletableFuture.completedStage(false);
		LockLease lease = acquire(request());
		for (int i = 0; i < 5; i++) {
			Waiter waiter = new Waiter(request());
			handOver(lease);
			lease = waiter.lease();
		}
		this.store.othersWait = CompletableFuture.completedStage(true);
		LockLease last = lease;
		LockLease next = lease;
		while (next.epoch() == lease.epoch()) {
			last = next;
			Waiter waiter = new Waiter(request());
			await().pollDelay(Duration.ofMillis(10)).until(() -> true);
			handOver(last);
			next = waiter.lease();
		}
		assertThat(last.turn()).isLessThan(255);
	}

	@Test
	void tokensRiseBeyondTheLastTurnThatTheyHaveRoomFor() throws Exception {
		this.store.othersWait = CompletableFuture.completedStage(false);
		LockLease lease = acquire(request());
		List<Long> tokens = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			tokens.add(lease.token());
			Waiter waiter = new Waiter(request());
			handOver(lease);
			lease = waiter.lease();
		}
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
		assertThat(this.store.requests).hasSize(2);
	}

	@Test
	void nothingIsHandedOverAfterTheLongestTime() throws Exception {
		this.backend = backend(16, Duration.ZERO);
		assertThat(runInTurn(3)).containsExactly(0, 0, 0);
	}

	@Test
	void nothingIsHandedOverWithoutTurns() throws Exception {
		this.store.othersWait = CompletableFuture.completedStage(false);
		this.backend = backend(0, LONG);
		assertThat(runInTurn(3)).containsExactly(0, 0, 0);
		this.backend = backend(1, LONG);
		assertThat(runInTurn(3)).containsExactly(0, 0, 0);
	}

	@Test
	void jvmThatHasUsedItsTurnsLeavesTheLockToOthersForAWhile() throws Exception {
		this.backend = backend(2, LONG);
		LockLease first = acquire(request());
		Waiter second = new Waiter(request());
		Waiter third = new Waiter(request());
		handOver(first);
		LockLease last = second.lease();
		long start = System.nanoTime();
		handOver(last);
		third.lease();
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(500_000);
	}

	@Test
	void lockOfThisNameIsNeitherHandedOverNorTakenOver() throws Exception {
		this.backend = new HandoverLockBackend(this.store,
				new HandoverLimits(16, LONG, (name) -> !name.equals("alone")), QueueLimits.DEFAULT);
		LockLease first = acquire(named("alone"));
		Waiter second = new Waiter(named("other"));
		handOver(first);
		LockLease other = second.lease();
		assertThat(other.epoch()).isGreaterThan(first.epoch());
		Waiter third = new Waiter(named("alone"));
		handOver(other);
		assertThat(third.lease().epoch()).isGreaterThan(other.epoch());
		assertThat(this.store.released).hasValue(2);
	}

	@Test
	void leaseThatIsNotProvablyValidIsNotHandedOver() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		this.store.leases.get(0).lost = true;
		handOver(first);
		assertThat(waiter.lease().epoch()).isGreaterThan(first.epoch());
	}

	@Test
	void leaseOfAScopeThatAnotherThreadClosesIsNotHandedOver() throws Exception {
		LockTemplate template = new LockTemplate(() -> this.backend, List::of).withKeyPrefix("");
		try {
			LockTemplate.Scope scope = template.acquire("A");
			Waiter waiter = new Waiter(request());
			Thread other = new Thread(scope::close);
			other.start();
			other.join();
			assertThat(waiter.lease().turn()).isZero();
			assertThat(this.store.requests).hasSize(2);
		}
		finally {
			TemplateAccess.close(template);
		}
	}

	@Test
	void waitersAreServedAgainAfterAFailureThatNobodyExpects() throws Exception {
		LockLease first = acquire(request(Duration.ofSeconds(10), 0));
		Waiter failing = new Waiter(request(LONG, 0));
		Waiter waiter = new Waiter(request(LONG, 0));
		this.store.renewalError = new IllegalArgumentException("too long");
		handOver(first);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(failing::lease)
			.withCauseInstanceOf(IllegalArgumentException.class);
		assertThat(waiter.lease().isValid()).isTrue();
		assertThat(this.store.released).hasValue(1);
	}

	@Test
	void jvmThatHoldsForTheLongestTimeLeavesTheLockToOthersForAWhile() throws Exception {
		this.backend = backend(16, Duration.ZERO);
		LockLease first = acquire(request());
		Waiter second = new Waiter(request());
		long start = System.nanoTime();
		handOver(first);
		second.lease();
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(500_000);
	}

	@Test
	void leaseWhoseRenewalFailedIsNotHandedOver() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		this.store.renewalFailure = new LockBackendException("A", "store is down", null);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> first.renew(LONG));
		handOver(first);
		assertThat(waiter.lease().epoch()).isGreaterThan(first.epoch());
	}

	@Test
	void leaseIsHandedOverAgainOnceARenewalSucceeded() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		this.store.renewalFailure = new LockBackendException("A", "store is down", null);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> first.renew(LONG));
		this.store.renewalFailure = null;
		assertThat(first.renew(LONG)).isTrue();
		handOver(first);
		assertThat(waiter.lease().epoch()).isEqualTo(first.epoch());
	}

	@Test
	void leaseIsNotHandedOverWhileItsRenewalIsOnItsWay() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		CountDownLatch answer = new CountDownLatch(1);
		this.store.renewalAnswer = answer;
		Thread renewal = new Thread(() -> first.renew(LONG));
		renewal.start();
		await().until(() -> this.store.renewals.size() == 1);
		handOver(first);
		assertThat(waiter.lease().epoch()).isGreaterThan(first.epoch());
		answer.countDown();
		renewal.join();
	}

	@Test
	void renewalThatComesWhileTheLeaseIsHandedOverAsksNothing() throws Exception {
		AtomicReference<LockLease> renewed = new AtomicReference<>();
		FutureTask<Boolean> renewal = new FutureTask<>(() -> renewed.get().renew(LONG));
		Thread renewing = new Thread(renewal);
		this.backend = new HandoverLockBackend(this.store, new HandoverLimits(16, LONG, (name) -> {
			if (renewed.get() != null && renewing.getState() == Thread.State.NEW) {
				renewing.start();
				await().until(() -> renewal.isDone() || renewing.getState() == Thread.State.WAITING);
			}
			return true;
		}), QueueLimits.DEFAULT);
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		renewed.set(first);
		assertThat(first.handOver()).isTrue();
		assertThat(renewal.get()).isFalse();
		assertThat(waiter.lease().isValid()).isTrue();
		assertThat(this.store.renewals).isEmpty();
	}

	@Test
	void shortRestOfALeaseIsExtendedForTheNextHolder() throws Exception {
		LockLease first = acquire(request(Duration.ofSeconds(10), 0));
		Waiter waiter = new Waiter(request(LONG, 0));
		handOver(first);
		LockLease second = waiter.lease();
		assertThat(second.epoch()).isEqualTo(first.epoch());
		assertThat(this.store.renewals).containsExactly(LONG);
		assertThat(second.remaining()).isGreaterThan(LONG.dividedBy(2));
	}

	@Test
	void longerLeaseThanAskedForIsShortened() throws Exception {
		LockLease first = acquire(request(LONG, 0));
		Duration shorter = Duration.ofSeconds(10);
		Waiter waiter = new Waiter(request(shorter, 0));
		handOver(first);
		assertThat(waiter.lease().remaining()).isLessThanOrEqualTo(shorter);
		assertThat(this.store.renewals).containsExactly(shorter);
	}

	@Test
	void lockIsAcquiredAnewWhenItsLeaseCannotBeExtended() throws Exception {
		LockLease first = acquire(request(Duration.ofSeconds(10), 0));
		Waiter waiter = new Waiter(request(LONG, 0));
		this.store.renewalFailure = new LockBackendException("A", "store is down", null);
		handOver(first);
		assertThat(waiter.lease().epoch()).isGreaterThan(first.epoch());
		assertThat(this.store.released).hasValue(1);
	}

	@Test
	void lockIsAcquiredAnewForALargerEpoch() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request(LONG, 1000));
		handOver(first);
		assertThat(waiter.lease().epoch()).isEqualTo(1000);
	}

	@RepeatedTest(50)
	void interruptedWaiterPassesOnWhatItWasJustGiven() throws Exception {
		LockLease first = acquire(request());
		Waiter interrupted = new Waiter(request());
		Waiter last = new Waiter(request());
		Thread interrupter = new Thread(interrupted.thread::interrupt);
		interrupter.start();
		handOver(first);
		interrupter.join();
		try {
			handOver(interrupted.lease());
		}
		catch (ExecutionException ex) {
			assertThat(ex).hasCauseInstanceOf(InterruptedException.class);
		}
		assertThat(last.lease().isValid()).isTrue();
		handOver(last.lease());
		assertThat(this.store.released).hasValue(this.store.requests.size());
	}

	@Test
	void severalKeysAreNotTakenAtOnceWithALeaseThatIsHandedOver() throws Exception {
		LockLease first = acquire(request());
		Waiter waiter = new Waiter(request());
		assertThat(this.backend.acquireAll(List.of(request()))).isNull();
		handOver(first);
		assertThat(waiter.lease().turn()).isEqualTo(1);
	}

	@Test
	void tooManyWaitersAreRefused() throws Exception {
		this.backend = new HandoverLockBackend(this.store, HandoverLimits.DEFAULT, new QueueLimits(1, 10));
		acquire(request());
		new Waiter(request());
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> this.backend.acquire(request()));
	}

	private HandoverLockBackend backend(int maxTurns, Duration maxTime) {
		return new HandoverLockBackend(this.store, new HandoverLimits(maxTurns, maxTime, (name) -> true),
				QueueLimits.DEFAULT);
	}

	/**
	 * Threads that all wait before the first one is done.
	 * @return the number of the turn of each
	 */
	private List<Integer> runInTurn(int threads) throws Exception {
		List<Integer> turns = new ArrayList<>();
		LockLease lease = acquire(request());
		List<Waiter> waiters = new ArrayList<>();
		for (int i = 1; i < threads; i++) {
			waiters.add(new Waiter(request()));
		}
		turns.add(lease.turn());
		for (Waiter waiter : waiters) {
			handOver(lease);
			lease = waiter.lease();
			turns.add(lease.turn());
		}
		handOver(lease);
		return turns;
	}

	private static CompletionStage<Boolean> handOver(LockLease lease) {
		return lease.handOver() ? CompletableFuture.completedStage(true) : lease.release();
	}

	private LockLease acquire(LockRequest request) throws InterruptedException {
		LockLease lease = this.backend.acquire(request);
		assertThat(lease).isNotNull();
		return lease;
	}

	private static LockRequest request() {
		return request(LONG, 0);
	}

	private static LockRequest request(Duration leaseTime, long minEpoch) {
		return new LockRequest("A", "name", LockRequest.Mode.EXCLUSIVE, false, LONG, leaseTime, "owner", "holder",
				minEpoch);
	}

	private static LockRequest named(String name) {
		return new LockRequest("A", name, LockRequest.Mode.EXCLUSIVE, false, LONG, LONG, "owner", "holder", 0);
	}

	/**
	 * A thread that waits in the queue when the constructor returns.
	 */
	private final class Waiter {

		private final FutureTask<LockLease> task;

		private final Thread thread;

		private Waiter(LockRequest request) {
			Callable<LockLease> acquire = () -> acquire(request);
			this.task = new FutureTask<>(acquire);
			this.thread = new Thread(this.task);
			this.thread.setDaemon(true);
			this.thread.start();
			await().pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> this.thread.getState() == Thread.State.TIMED_WAITING);
		}

		private LockLease lease() throws Exception {
			return this.task.get();
		}

	}

	/**
	 * A store that grants whatever it is asked for.
	 */
	private static final class Store implements LockBackend {

		private final List<LockRequest> requests = new CopyOnWriteArrayList<>();

		private final List<Lease> leases = new CopyOnWriteArrayList<>();

		private final List<Duration> renewals = new CopyOnWriteArrayList<>();

		private final AtomicLong released = new AtomicLong();

		private final AtomicLong epochs = new AtomicLong();

		private volatile CompletionStage<Boolean> othersWait = CompletableFuture.completedStage(true);

		private volatile @Nullable LockBackendException renewalFailure;

		private volatile @Nullable RuntimeException renewalError;

		private volatile @Nullable CountDownLatch renewalAnswer;

		@Override
		public LockLease acquire(LockRequest request) {
			this.requests.add(request);
			Lease lease = new Lease(this, request,
					this.epochs.updateAndGet((last) -> Math.max(last + 1, request.minEpoch())));
			this.leases.add(lease);
			return lease;
		}

		@Override
		public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
			return sorted.stream().map(this::acquire).toList();
		}

		@Override
		public Duration noticeTime() {
			return Duration.ofMillis(5);
		}

		@Override
		public Set<Capability> capabilities() {
			return Set.of();
		}

	}

	private static final class Lease extends GrantedLease {

		private final Store store;

		private volatile Deadline deadline;

		private volatile boolean lost;

		private Lease(Store store, LockRequest request, long epoch) {
			super(request, epoch);
			this.store = store;
			this.deadline = Deadline.after(request.leaseTime());
		}

		@Override
		public Duration remaining() {
			return this.deadline.remaining();
		}

		@Override
		public boolean isValid() {
			return !this.lost && !this.deadline.hasPassed();
		}

		@Override
		public boolean renew(Duration leaseTime) {
			this.store.renewals.add(leaseTime);
			try {
				CountDownLatch answer = this.store.renewalAnswer;
				if (answer != null) {
					answer.await();
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			RuntimeException error = this.store.renewalError;
			if (error != null) {
				throw error;
			}
			LockBackendException failure = this.store.renewalFailure;
			if (failure != null) {
				throw failure;
			}
			this.deadline = Deadline.after(leaseTime);
			return true;
		}

		@Override
		public CompletionStage<Boolean> othersWait() {
			return this.store.othersWait;
		}

		@Override
		public CompletionStage<Boolean> release() {
			this.store.released.incrementAndGet();
			return CompletableFuture.completedStage(true);
		}

	}

}
