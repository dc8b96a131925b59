package io.github.holdfast.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Permits are handed on in order, and none gets lost.
 */
@Tag("race")
class KeyedPermitsTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private KeyedPermits<String> permits = new KeyedPermits<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@Test
	void permitIsGrantedWhenNobodyHasIt() throws Exception {
		assertThat(acquire("A", Duration.ZERO)).isNotNull().matches((permit) -> permit.isHeld());
	}

	@Test
	void permitIsNotGrantedTwice() throws Exception {
		acquire("A", Duration.ZERO);
		assertThat(acquire("A", Duration.ZERO)).isNull();
		assertThat(acquire("A", Duration.ofMillis(5))).isNull();
	}

	@Test
	void keysAreIndependent() throws Exception {
		acquire("A", Duration.ZERO);
		assertThat(acquire("B", Duration.ZERO)).isNotNull();
	}

	@Test
	void waiterGetsThePermitWhenItIsReleased() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Waiter waiter = new Waiter(() -> acquire("A"));
		first.release();
		assertThat(waiter.get()).isNotNull();
	}

	@Test
	void permitIsReleasedByAnotherThread() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		assertThat(this.threads.submit(first::release).get()).isTrue();
		assertThat(acquire("A", Duration.ZERO)).isNotNull();
	}

	@Test
	void secondReleaseChangesNothing() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		assertThat(first.release()).isTrue();
		acquire("A");
		assertThat(first.release()).isFalse();
		assertThat(first.isHeld()).isFalse();
		assertThat(acquire("A", Duration.ZERO)).isNull();
	}

	@Test
	void waitersAreServedInTheOrderOfTheirArrival() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		List<Integer> served = new CopyOnWriteArrayList<>();
		List<Waiter> waiters = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			int number = i;
			waiters.add(new Waiter(() -> {
				KeyedPermits<String>.Permit permit = acquire("A");
				served.add(number);
				permit.release();
				return permit;
			}));
		}
		first.release();
		for (Waiter waiter : waiters) {
			waiter.get();
		}
		assertThat(served).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
	}

	@Test
	void waiterThatTimedOutIsPassedOver() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		assertThat(this.threads.submit(() -> acquire("A", Duration.ofMillis(5))).get()).isNull();
		Waiter second = new Waiter(() -> acquire("A"));
		first.release();
		assertThat(second.get()).isNotNull();
	}

	@Test
	void waiterThatIsInterruptedIsPassedOver() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Waiter interrupted = new Waiter(() -> acquire("A"));
		Waiter second = new Waiter(() -> acquire("A"));
		interrupted.thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(interrupted::get)
			.withCauseInstanceOf(InterruptedException.class);
		first.release();
		assertThat(second.get()).isNotNull();
	}

	@Test
	void interruptedThreadGetsNoPermit() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> acquire("A", Duration.ZERO));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.permits.size()).isZero();
	}

	@RepeatedTest(200)
	void permitIsNotLostWhenItsWaiterIsInterruptedAtTheSameMoment() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Waiter waiter = new Waiter(() -> acquire("A"));
		race(first::release, waiter.thread::interrupt);
		try {
			waiter.get().release();
		}
		catch (ExecutionException ex) {
			assertThat(ex).hasCauseInstanceOf(InterruptedException.class);
		}
		assertThat(this.permits.size()).isZero();
	}

	@RepeatedTest(200)
	void permitIsNotLostWhenItsWaiterTimesOutAtTheSameMoment() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		CountDownLatch started = new CountDownLatch(1);
		Future<KeyedPermits<String>.Permit> waiter = this.threads.submit(() -> {
			started.countDown();
			return acquire("A", Duration.ofNanos(200_000));
		});
		started.await();
		LockSupport.parkNanos(100_000);
		first.release();
		KeyedPermits<String>.Permit second = waiter.get();
		if (second != null) {
			second.release();
		}
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void waiterNoticesThatThePermitExpiresSoonerThanItHasSeen() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		first.expireAfter(() -> LONG);
		Waiter waiter = new Waiter(() -> acquire("A"));
		first.expireAfter(() -> Duration.ZERO);
		await().until(waiter.task::isDone);
		assertThat(first.isHeld()).isFalse();
	}

	@Test
	void failureIsKnownToThoseWhoWaitUntilAnotherRequestSucceeds() throws Exception {
		IllegalStateException failure = new IllegalStateException();
		KeyedPermits<String>.Permit first = acquire("A");
		Waiter second = new Waiter(() -> acquire("A"));
		Waiter third = new Waiter(() -> acquire("A"));
		assertThat(this.permits.failure("A")).isNull();
		first.failed(failure);
		first.release();
		second.get().release();
		assertThat(this.permits.failure("A")).isSameAs(failure);
		third.get().failed(null);
		assertThat(this.permits.failure("A")).isNull();
		third.get().failed(failure);
		third.get().release();
		assertThat(this.permits.failure("A")).as("when nobody waits").isNull();
	}

	@Test
	void permitBringsWhatTheLastOneLeft() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Waiter second = new Waiter(() -> acquire("A"));
		Waiter third = new Waiter(() -> acquire("A"));
		assertThat(first.brought()).isNull();
		assertThat(first.handOver(() -> "passed")).isTrue();
		assertThat(first.isHeld()).isFalse();
		assertThat(second.get().brought()).isEqualTo("passed");
		second.get().releaseWith("released");
		assertThat(third.get().brought()).isEqualTo("released");
		third.get().release();
		assertThat(acquire("A").brought()).isNull();
	}

	@Test
	void permitIsKeptWhenNobodyWaitsToWhomItCouldBePassed() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		assertThat(first.handOver(() -> "passed")).isFalse();
		assertThat(first.isHeld()).isTrue();
		assertThat(acquire("A", Duration.ZERO)).isNull();
		first.release();
		assertThat(first.handOver(() -> "passed")).isFalse();
	}

	@Test
	void permitThatWasTakenOverIsNotPassed() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		first.expireAfter(() -> Duration.ZERO);
		KeyedPermits<String>.Permit second = acquire("A");
		Waiter third = new Waiter(() -> acquire("A"));
		assertThat(first.handOver(() -> "passed")).isFalse();
		second.release();
		assertThat(third.get().brought()).isNull();
	}

	@Test
	void othersBargeInBeforeAWaiterThatStillSleeps() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, false);
		first.handOver(() -> "passed");
		KeyedPermits<String>.Permit barger = acquire("A");
		assertThat(barger.brought()).isEqualTo("passed");
		assertThat(barger.isHeld()).isTrue();
		assertThat(first.isHeld()).isFalse();
		sleeper.wakeUp();
		assertThat(acquire("A", Duration.ofMillis(5))).isNull();
		barger.release();
		sleeper.get().release();
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void othersBargeInBeforeAWaiterAFewTimesOnly() throws Exception {
		this.permits = new KeyedPermits<>(LONG);
		KeyedPermits<String>.Permit permit = acquire("A");
		Sleeper sleeper = new Sleeper(permit, false);
		for (int i = 0; i < Barging.MOST; i++) {
			permit.release();
			permit = acquire("A");
		}
		permit.release();
		assertThat(acquire("A", Duration.ofMillis(5))).isNull();
		sleeper.wakeUp();
		assertThat(sleeper.get().isHeld()).isTrue();
	}

	@Test
	void othersBargeInBeforeAWaiterForAShortTimeOnly() throws Exception {
		this.permits = new KeyedPermits<>(Duration.ZERO);
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, false);
		first.release();
		acquire("A").release();
		assertThat(acquire("A", Duration.ofMillis(5))).as("a second time").isNull();
		sleeper.wakeUp();
		assertThat(sleeper.get().isHeld()).isTrue();
	}

	@Test
	void nobodyBargesInBeforeAFairWaiter() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, true);
		first.release();
		assertThat(acquire("A", Duration.ofMillis(5))).isNull();
		sleeper.wakeUp();
		assertThat(sleeper.get().isHeld()).isTrue();
	}

	@Test
	void nobodyBargesInBeforeThoseInFrontOfAFairWaiter() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, false);
		Waiter fair = new Waiter(() -> this.permits.acquire("A", LONG, true, QueueLimits.DEFAULT));
		first.release();
		assertThat(acquire("A", Duration.ofMillis(5))).isNull();
		sleeper.wakeUp();
		sleeper.get().release();
		assertThat(fair.get().isHeld()).isTrue();
	}

	@Test
	void fairThreadDoesNotBargeIn() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, false);
		first.release();
		assertThat(this.permits.acquire("A", Duration.ofMillis(5), true, QueueLimits.DEFAULT)).isNull();
		sleeper.wakeUp();
		assertThat(sleeper.get().isHeld()).isTrue();
	}

	@Test
	void singleAttemptDoesNotBargeIn() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, false);
		first.release();
		assertThat(acquire("A", Duration.ZERO)).isNull();
		sleeper.wakeUp();
		assertThat(sleeper.get().isHeld()).isTrue();
	}

	@Test
	void singleAttemptWaitsForTheReleaseThatIsUnderWay() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		first.releasesSoon();
		Waiter single = new Waiter(() -> acquire("A", Duration.ZERO));
		first.releaseWith("released");
		assertThat(single.get().brought()).isEqualTo("released");
		single.get().release();
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void singleAttemptDoesNotWaitForTheReleaseIfAnotherOneDoes() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Waiter waiter = new Waiter(() -> acquire("A"));
		first.releasesSoon();
		assertThat(acquire("A", Duration.ZERO)).isNull();
		first.release();
		assertThat(waiter.get().isHeld()).isTrue();
	}

	/**
	 * Otherwise it would wait for the one who has barged in.
	 */
	@RepeatedTest(50)
	void nobodyBargesInBeforeASingleAttemptThatWaitsForTheRelease() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		first.releasesSoon();
		Waiter single = new Waiter(() -> acquire("A", Duration.ZERO));
		first.release();
		assertThat(acquire("A", Duration.ofNanos(1))).isNull();
		assertThat(single.get().isHeld()).isTrue();
	}

	@Test
	void singleAttemptThatWaitsForTheReleaseCanBeInterrupted() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		first.releasesSoon();
		Waiter single = new Waiter(() -> acquire("A", Duration.ZERO));
		single.thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(single::get)
			.withCauseInstanceOf(InterruptedException.class);
		first.release();
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void waiterBeforeWhichOthersHaveBargedInCanBeInterrupted() throws Exception {
		KeyedPermits<String>.Permit first = acquire("A");
		Sleeper sleeper = new Sleeper(first, false);
		first.release();
		KeyedPermits<String>.Permit barger = acquire("A");
		sleeper.wakeUp();
		sleeper.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(sleeper::get)
			.withCauseInstanceOf(InterruptedException.class);
		barger.release();
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void noMoreThreadsWaitThanAreAllowed() throws Exception {
		acquire("A");
		acquire("B");
		new Waiter(() -> acquire("A"));
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> this.permits.acquire("A", LONG, false, new QueueLimits(1, 100)))
			.withMessageContaining("for one key are 1");
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> this.permits.acquire("B", LONG, false, new QueueLimits(100, 1)))
			.withMessageContaining("for locks are 1");
		assertThat(this.permits.acquire("A", Duration.ZERO, false, new QueueLimits(1, 1))).isNull();
		assertThat(this.permits.acquire("C", LONG, false, new QueueLimits(1, 1))).isNotNull();
	}

	@Test
	void nothingIsLeftAfterManyHandOvers() throws Exception {
		int threadCount = 8;
		int[] counter = new int[1];
		List<Future<?>> workers = new ArrayList<>();
		for (int i = 0; i < threadCount; i++) {
			workers.add(this.threads.submit(() -> {
				for (int n = 0; n < 10_000 / threadCount; n++) {
					KeyedPermits<String>.Permit permit = acquire("A");
					counter[0]++;
					permit.release();
				}
				return null;
			}));
		}
		for (Future<?> worker : workers) {
			worker.get();
		}
		assertThat(counter[0]).isEqualTo(10_000);
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void nothingIsLeftAfterTimeoutsAndInterrupts() throws Exception {
		int[] inside = new int[1];
		List<Future<?>> workers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			workers.add(this.threads.submit(() -> {
				for (int n = 0; n < 500; n++) {
					if (n % 5 == 0) {
						Thread.currentThread().interrupt();
					}
					try {
						KeyedPermits<String>.Permit permit = acquire("A", Duration.ofNanos(n * 200L));
						if (permit != null) {
							assertThat(++inside[0]).isEqualTo(1);
							inside[0]--;
							permit.release();
						}
					}
					catch (InterruptedException ex) {
						assertThat(n % 5).isZero();
					}
				}
				return null;
			}));
		}
		for (Future<?> worker : workers) {
			worker.get();
		}
		assertThat(this.permits.size()).isZero();
	}

	private KeyedPermits<String>.@Nullable Permit acquire(String key, Duration waitTime) throws InterruptedException {
		return this.permits.acquire(key, waitTime, false, QueueLimits.DEFAULT);
	}

	private KeyedPermits<String>.Permit acquire(String key) throws InterruptedException {
		KeyedPermits<String>.Permit permit = acquire(key, LONG);
		assertThat(permit).isNotNull();
		return permit;
	}

	private void race(Runnable one, Runnable other) throws Exception {
		CountDownLatch start = new CountDownLatch(1);
		Future<?> second = this.threads.submit(() -> {
			start.await();
			other.run();
			return null;
		});
		start.countDown();
		one.run();
		second.get();
	}

	/**
	 * A thread that is in the queue when the constructor returns, and takes no notice of
	 * what it is given until it is told to wake up.
	 */
	private final class Sleeper {

		private final CountDownLatch asleep = new CountDownLatch(1);

		private final CountDownLatch awake = new CountDownLatch(1);

		private final FutureTask<KeyedPermits<String>.Permit> task;

		private final Thread thread;

		private boolean queued;

		private Sleeper(KeyedPermits<String>.Permit held, boolean fair) throws InterruptedException {
			this.task = new FutureTask<>(
					() -> KeyedPermitsTests.this.permits.acquire("A", LONG, fair, QueueLimits.DEFAULT));
			this.thread = new Thread(this.task);
			held.expireAfter(this::remaining);
			this.thread.start();
			this.asleep.await();
		}

		/**
		 * A waiter asks before it is in the queue, and when it is.
		 */
		private Duration remaining() {
			if (Thread.currentThread() == this.thread) {
				if (this.queued) {
					sleep();
				}
				this.queued = true;
			}
			return LONG;
		}

		private void sleep() {
			this.asleep.countDown();
			try {
				this.awake.await();
			}
			catch (InterruptedException ex) {
				this.thread.interrupt();
			}
		}

		private void wakeUp() {
			this.awake.countDown();
		}

		private void interrupt() {
			this.thread.interrupt();
		}

		private KeyedPermits<String>.Permit get() throws Exception {
			return this.task.get();
		}

	}

	/**
	 * A thread that waits in the queue when the constructor returns.
	 */
	private static final class Waiter {

		private final FutureTask<KeyedPermits<String>.Permit> task;

		private final Thread thread;

		private Waiter(Callable<KeyedPermits<String>.Permit> work) {
			this.task = new FutureTask<>(work);
			this.thread = new Thread(this.task);
			this.thread.setDaemon(true);
			this.thread.start();
			await().pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> this.thread.getState() == Thread.State.TIMED_WAITING);
		}

		private KeyedPermits<String>.Permit get() throws Exception {
			return this.task.get();
		}

	}

}
