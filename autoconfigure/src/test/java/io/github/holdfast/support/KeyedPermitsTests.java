package io.github.holdfast.support;

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
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Permits are handed on in order, and none gets lost.
 */
class KeyedPermitsTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final KeyedPermits permits = new KeyedPermits();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@Test
	void permitIsGrantedWhenNobodyHasIt() throws Exception {
		assertThat(this.permits.acquire("A", Duration.ZERO)).isNotNull().matches(KeyedPermits.Permit::isHeld);
	}

	@Test
	void permitIsNotGrantedTwice() throws Exception {
		this.permits.acquire("A", Duration.ZERO);
		assertThat(this.permits.acquire("A", Duration.ZERO)).isNull();
		assertThat(this.permits.acquire("A", Duration.ofMillis(5))).isNull();
	}

	@Test
	void keysAreIndependent() throws Exception {
		this.permits.acquire("A", Duration.ZERO);
		assertThat(this.permits.acquire("B", Duration.ZERO)).isNotNull();
	}

	@Test
	void waiterGetsThePermitWhenItIsReleased() throws Exception {
		KeyedPermits.Permit first = acquire("A");
		Waiter waiter = new Waiter(() -> acquire("A"));
		first.release();
		assertThat(waiter.get()).isNotNull();
	}

	@Test
	void permitIsReleasedByAnotherThread() throws Exception {
		KeyedPermits.Permit first = acquire("A");
		assertThat(this.threads.submit(first::release).get()).isTrue();
		assertThat(this.permits.acquire("A", Duration.ZERO)).isNotNull();
	}

	@Test
	void secondReleaseChangesNothing() throws Exception {
		KeyedPermits.Permit first = acquire("A");
		assertThat(first.release()).isTrue();
		acquire("A");
		assertThat(first.release()).isFalse();
		assertThat(first.isHeld()).isFalse();
		assertThat(this.permits.acquire("A", Duration.ZERO)).isNull();
	}

	@Test
	void waitersAreServedInTheOrderOfTheirArrival() throws Exception {
		KeyedPermits.Permit first = acquire("A");
		List<Integer> served = new CopyOnWriteArrayList<>();
		List<Waiter> waiters = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			int number = i;
			waiters.add(new Waiter(() -> {
				KeyedPermits.Permit permit = acquire("A");
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
		KeyedPermits.Permit first = acquire("A");
		assertThat(this.threads.submit(() -> this.permits.acquire("A", Duration.ofMillis(5))).get()).isNull();
		Waiter second = new Waiter(() -> acquire("A"));
		first.release();
		assertThat(second.get()).isNotNull();
	}

	@Test
	void waiterThatIsInterruptedIsPassedOver() throws Exception {
		KeyedPermits.Permit first = acquire("A");
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
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.permits.acquire("A", Duration.ZERO));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.permits.size()).isZero();
	}

	@RepeatedTest(200)
	void permitIsNotLostWhenItsWaiterIsInterruptedAtTheSameMoment() throws Exception {
		KeyedPermits.Permit first = acquire("A");
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
		KeyedPermits.Permit first = acquire("A");
		CountDownLatch started = new CountDownLatch(1);
		Future<KeyedPermits.Permit> waiter = this.threads.submit(() -> {
			started.countDown();
			return this.permits.acquire("A", Duration.ofNanos(200_000));
		});
		started.await();
		LockSupport.parkNanos(100_000);
		first.release();
		KeyedPermits.Permit second = waiter.get();
		if (second != null) {
			second.release();
		}
		assertThat(this.permits.size()).isZero();
	}

	@Test
	void nothingIsLeftAfterManyHandOvers() throws Exception {
		int threadCount = 8;
		int[] counter = new int[1];
		List<Future<?>> workers = new ArrayList<>();
		for (int i = 0; i < threadCount; i++) {
			workers.add(this.threads.submit(() -> {
				for (int n = 0; n < 10_000 / threadCount; n++) {
					KeyedPermits.Permit permit = acquire("A");
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
						KeyedPermits.Permit permit = this.permits.acquire("A", Duration.ofNanos(n * 200L));
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

	private KeyedPermits.Permit acquire(String key) throws InterruptedException {
		KeyedPermits.Permit permit = this.permits.acquire(key, LONG);
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
	 * A thread that waits in the queue when the constructor returns.
	 */
	private static final class Waiter {

		private final FutureTask<KeyedPermits.Permit> task;

		private final Thread thread;

		private Waiter(Callable<KeyedPermits.Permit> work) {
			this.task = new FutureTask<>(work);
			this.thread = new Thread(this.task);
			this.thread.setDaemon(true);
			this.thread.start();
			await().pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> this.thread.getState() == Thread.State.TIMED_WAITING);
		}

		private KeyedPermits.Permit get() throws Exception {
			return this.task.get();
		}

	}

}
