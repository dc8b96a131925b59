package io.github.holdfast.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * At most one local thread talks to the store about a key.
 */
@Tag("race")
class HandoverLockBackendTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final Store store = new Store();

	private final HandoverLockBackend backend = new HandoverLockBackend(this.store);

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@Test
	void waitingThreadDoesNotAskTheStoreWhileTheKeyIsHeldLocally() throws Exception {
		acquire("A", LONG);
		assertThat(this.backend.acquire(request("A", Duration.ofMillis(5)))).isNull();
		assertThat(this.store.requests).hasSize(1);
	}

	@Test
	void atMostOneThreadIsAtTheStore() throws Exception {
		this.store.pause = Duration.ofMillis(1);
		List<Future<?>> workers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			workers.add(this.threads.submit(() -> acquire("A", LONG).release()));
		}
		for (Future<?> worker : workers) {
			worker.get();
		}
		assertThat(this.store.requests).hasSize(8);
		assertThat(this.store.mostAtOnce).hasValue(1);
	}

	/**
	 * As after a commit with an unknown outcome. Nobody asks for these keys again.
	 */
	@Test
	@Tag("F29")
	void keysWhoseLeasesWereLeftToRunOutAreForgotten() throws Exception {
		for (int i = 0; i < 200; i++) {
			acquire("order:" + i, LONG);
		}
		LockLease held = acquire("A", LONG);
		this.store.runOut = (key) -> !key.equals("A");
		KeyedPermits<?> queue = (KeyedPermits<?>) ReflectionTestUtils.getField(this.backend, "queue");
		await().atMost(LONG).untilAsserted(() -> {
			acquire("B", LONG).release();
			assertThat(queue.size()).isOne();
		});
		assertThat(this.backend.acquire(request("A", Duration.ZERO))).isNull();
		held.release();
		assertThat(queue.size()).isZero();
	}

	@Test
	void keysAreIndependent() throws Exception {
		acquire("A", LONG);
		assertThat(this.backend.acquire(request("B", Duration.ZERO))).isNotNull();
	}

	@Test
	void waiterGetsThroughWhenTheHolderReleases() throws Exception {
		LockLease first = acquire("A", LONG);
		Future<LockLease> waiter = this.threads.submit(() -> acquire("A", LONG));
		await().until(() -> isQueued());
		first.release();
		assertThat(waiter.get().isValid()).isTrue();
	}

	@Test
	void waitersGetThroughInTheOrderOfTheirArrival() throws Exception {
		LockLease first = acquire("A", LONG);
		List<Integer> served = new CopyOnWriteArrayList<>();
		List<Thread> waiters = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			int number = i;
			Thread waiter = new Thread(() -> {
				LockLease lease = acquire("A", LONG);
				served.add(number);
				lease.release();
			});
			waiter.start();
			waiters.add(waiter);
			await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
		}
		first.release();
		for (Thread waiter : waiters) {
			waiter.join();
		}
		assertThat(served).containsExactly(0, 1, 2, 3, 4);
	}

	@Test
	void storeIsAskedWithTheTimeThatIsLeft() throws Exception {
		LockLease first = acquire("A", LONG);
		Future<LockLease> waiter = this.threads.submit(() -> acquire("A", LONG));
		await().until(() -> isQueued());
		first.release();
		waiter.get();
		assertThat(this.store.requests.get(1).waitTime()).isLessThan(LONG);
	}

	@Test
	void zeroWaitIsOneAttemptAtTheStore() throws Exception {
		this.backend.acquire(request("A", Duration.ZERO));
		assertThat(this.store.requests).singleElement().satisfies((request) -> assertThat(request.waitTime()).isZero());
	}

	@Test
	void queueIsFreeWhenTheStoreSaysBusy() throws Exception {
		this.store.busy = true;
		assertThat(this.backend.acquire(request("A", Duration.ZERO))).isNull();
		assertThat(this.backend.acquire(request("A", Duration.ZERO))).isNull();
		assertThat(this.store.requests).hasSize(2);
	}

	@Test
	void queueIsFreeWhenTheStoreFailed() {
		this.store.failure = new LockBackendException("A", "store is down", null);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> acquire("A", LONG));
		this.store.failure = null;
		assertThat(acquire("A", Duration.ZERO).isValid()).isTrue();
	}

	@Test
	void queueIsFreeWhenTheThreadAtTheStoreIsInterrupted() throws Exception {
		this.store.pause = LONG;
		CountDownLatch interrupted = new CountDownLatch(1);
		Thread thread = new Thread(() -> {
			try {
				this.backend.acquire(request("A", LONG));
			}
			catch (InterruptedException ex) {
				interrupted.countDown();
			}
		});
		thread.start();
		await().until(() -> this.store.requests.size() == 1);
		thread.interrupt();
		assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
		this.store.pause = Duration.ZERO;
		assertThat(acquire("A", Duration.ZERO).isValid()).isTrue();
	}

	@Test
	void queueIsFreeWhenTheReleaseThrows() {
		LockLease first = acquire("A", LONG);
		this.store.failure = new LockBackendException("A", "store is down", null);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(first::release);
		this.store.failure = null;
		assertThat(acquire("A", Duration.ZERO).isValid()).isTrue();
	}

	@Test
	void queueIsFreeWhenTheReleaseFailsLater() {
		LockLease first = acquire("A", LONG);
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.store.answer = answer;
		first.release();
		answer.completeExceptionally(new LockBackendException("A", "store is down", null));
		assertThat(acquire("A", Duration.ZERO).isValid()).isTrue();
	}

	@Test
	void nextThreadDoesNotOvertakeTheReleaseThatIsStillOnItsWay() throws Exception {
		LockLease first = acquire("A", LONG);
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.store.answer = answer;
		CompletionStage<Boolean> release = first.release();
		Future<LockLease> next = this.threads.submit(() -> acquire("A", Duration.ZERO));
		await().until(() -> isQueued());
		assertThat(this.store.requests).hasSize(1);
		assertThat(this.backend.acquire(request("A", Duration.ZERO))).as("behind another one").isNull();
		answer.complete(true);
		assertThat(release.toCompletableFuture().get()).isTrue();
		assertThat(next.get().isValid()).isTrue();
		assertThat(this.backend.acquire(request("A", Duration.ZERO))).as("while it is held").isNull();
	}

	@Test
	void secondReleaseDoesNotLetASecondThreadThrough() throws Exception {
		LockLease first = acquire("A", LONG);
		first.release();
		acquire("A", LONG);
		first.release();
		assertThat(this.backend.acquire(request("A", Duration.ZERO))).isNull();
	}

	@Test
	void sharedRequestsPassByTheQueue() throws Exception {
		LockRequest shared = new LockRequest("A", "name", LockRequest.Mode.SHARED, false, Duration.ZERO, LONG, "owner",
				"holder", 0);
		assertThat(this.backend.acquire(shared)).isNotNull();
		assertThat(this.backend.acquire(shared)).isNotNull();
	}

	@Test
	void leaseIsTheOneOfTheStore() {
		LockLease lease = acquire("A", LONG);
		assertThat(lease.key()).isEqualTo("A");
		assertThat(lease.owner()).isEqualTo("owner");
		assertThat(lease.epoch()).isEqualTo(1);
		assertThat(lease.token()).isEqualTo(1L << 8);
		assertThat(lease.remaining()).isEqualTo(LONG);
		assertThat(lease.renew(LONG)).isTrue();
	}

	@Test
	void storeTellsHolderAndCapabilities() {
		assertThat(this.backend.holder("A")).isEqualTo(LockHolder.described("holder of A"));
		assertThat(this.backend.capabilities()).containsExactly(LockBackend.Capability.SHARED);
		assertThat(this.backend).hasToString("backend 'store'");
	}

	@Test
	void severalKeysAreTakenAtOnce() throws Exception {
		List<LockLease> leases = this.backend.acquireAll(List.of(request("A", LONG), request("B", LONG)));
		assertThat(leases).extracting(LockLease::key).containsExactly("A", "B");
		Future<LockLease> waiter = this.threads.submit(() -> acquire("B", LONG));
		await().until(() -> isQueued());
		leases.forEach(LockLease::release);
		assertThat(waiter.get().isValid()).isTrue();
		acquire("A", Duration.ZERO);
	}

	@Test
	void severalKeysAreNotTakenAtOnceWhenOneIsTakenLocally() throws Exception {
		LockLease lease = acquire("B", LONG);
		assertThat(this.backend.acquireAll(List.of(request("A", LONG), request("B", LONG)))).isNull();
		assertThat(this.store.requests).hasSize(1);
		lease.release();
		assertThat(this.backend.acquireAll(List.of(request("A", LONG), request("B", LONG)))).hasSize(2);
	}

	@Test
	void severalKeysThatTheStoreDoesNotGrantAreFreeLocally() throws Exception {
		this.store.busy = true;
		assertThat(this.backend.acquireAll(List.of(request("A", LONG), request("B", LONG)))).isNull();
		this.store.busy = false;
		acquire("A", Duration.ZERO);
		acquire("B", Duration.ZERO);
	}

	private static boolean isQueued() {
		return Thread.getAllStackTraces()
			.entrySet()
			.stream()
			.anyMatch((entry) -> entry.getKey().getState() == Thread.State.TIMED_WAITING
					&& List.of(entry.getValue()).toString().contains("KeyedPermits.await"));
	}

	private LockLease acquire(String key, Duration waitTime) {
		try {
			LockLease lease = this.backend.acquire(request(key, waitTime));
			assertThat(lease).isNotNull();
			return lease;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static LockRequest request(String key, Duration waitTime) {
		return new LockRequest(key, "name", LockRequest.Mode.EXCLUSIVE, false, waitTime, LONG, "owner", "holder", 0);
	}

	/**
	 * A store that grants whatever it is asked for.
	 */
	private static final class Store implements LockBackend {

		private final List<LockRequest> requests = new CopyOnWriteArrayList<>();

		private final AtomicInteger atOnce = new AtomicInteger();

		private final AtomicInteger mostAtOnce = new AtomicInteger();

		private final AtomicLong epochs = new AtomicLong();

		private volatile Duration pause = Duration.ZERO;

		private volatile boolean busy;

		private volatile Predicate<String> runOut = (key) -> false;

		private volatile @Nullable LockBackendException failure;

		private volatile @Nullable CompletionStage<Boolean> answer;

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			this.requests.add(request);
			int now = this.atOnce.incrementAndGet();
			this.mostAtOnce.accumulateAndGet(now, Math::max);
			try {
				TimeUnit.NANOSECONDS.sleep(this.pause.toNanos());
				fail();
				return this.busy ? null : new Lease(request, this.epochs.incrementAndGet(), this);
			}
			finally {
				this.atOnce.decrementAndGet();
			}
		}

		@Override
		public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
			this.requests.addAll(sorted);
			return this.busy ? null
					: sorted.stream()
						.<LockLease>map((request) -> new Lease(request, this.epochs.incrementAndGet(), this))
						.toList();
		}

		private void fail() {
			LockBackendException failure = this.failure;
			if (failure != null) {
				throw failure;
			}
		}

		@Override
		public LockHolder holder(String key) {
			return LockHolder.described("holder of " + key);
		}

		@Override
		public Set<Capability> capabilities() {
			return Set.of(Capability.SHARED);
		}

		@Override
		public String toString() {
			return "backend 'store'";
		}

	}

	private record Lease(LockRequest request, long epoch, Store store) implements LockLease {

		@Override
		public String key() {
			return this.request.key();
		}

		@Override
		public String owner() {
			return this.request.owner();
		}

		@Override
		public Duration remaining() {
			return this.store.runOut.test(key()) ? Duration.ZERO : this.request.leaseTime();
		}

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public boolean renew(Duration leaseTime) {
			return true;
		}

		@Override
		public CompletionStage<Boolean> release() {
			this.store.fail();
			CompletionStage<Boolean> answer = this.store.answer;
			return (answer != null) ? answer : CompletableFuture.completedStage(true);
		}

	}

}
