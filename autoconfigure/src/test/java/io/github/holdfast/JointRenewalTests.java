package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The leases of one call are renewed together if the store can do that, and those that
 * run out first come first.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
@Tag("F76")
@Tag("race")
class JointRenewalTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final int TOGETHER = 10;

	private final FakeLockBackend store = new FakeLockBackend();

	private final Joint backend = new Joint(this.store);

	private final LockTemplate locks = new LockTemplate(() -> this.backend, List::of).withLeaseTime(LEASE);

	@AfterEach
	void close() {
		this.locks.close();
	}

	@Test
	void keysThatWereTakenAtOnceAreRenewedTogether() {
		this.backend.atOnce = true;
		assertRenewedTogether(keys(25), 3);
	}

	@Test
	void keysThatWereTakenOneByOneAreRenewedTogether() {
		assertRenewedTogether(keys(25), 3);
	}

	private void assertRenewedTogether(List<String> keys, int requests) {
		this.locks.execute(keys, () -> {
			await().until(() -> renewed().size() == keys.size());
			List<List<String>> first = List.copyOf(this.backend.requests).subList(0, requests);
			assertThat(first).allMatch((request) -> request.size() <= TOGETHER);
			assertThat(first.stream().flatMap(List::stream)).hasSize(keys.size()).doesNotHaveDuplicates();
			await().untilAsserted(() -> assertThat(this.store.renewals).hasValueGreaterThan(3 * keys.size()));
			assertThat(LockContext.current().orElseThrow().isValid()).isTrue();
			return null;
		});
		assertThat(this.store.held()).isEmpty();
	}

	private Set<String> renewed() {
		Set<String> renewed = new HashSet<>();
		this.backend.requests.forEach(renewed::addAll);
		return renewed;
	}

	@Test
	void callsAreRenewedApart() {
		this.locks.execute(keys(3), () -> {
			this.locks.execute(List.of("x", "y"), () -> {
				await().until(() -> renewed().size() == 5);
				return null;
			});
			return null;
		});
		assertThat(this.backend.requests)
			.allMatch((request) -> request.contains("lock:x") == !request.contains("lock:key-0"));
	}

	@Test
	void oneThatIsLostAndOneThatFailsAreReportedAndTheOthersRenewed(CapturedOutput output) {
		this.store.renewal = (lease) -> {
			if (lease.key().equals("lock:key-1")) {
				throw new LockBackendException(lease.key(), "fails", null);
			}
			return !lease.key().equals("lock:key-0");
		};
		this.locks.execute(keys(4), () -> {
			await().until(() -> occurrences("lock:key-3") > 3);
			List<LockLease> leases = LockContext.current().orElseThrow().leases();
			assertThat(leases).extracting(LockLease::isValid).containsExactly(false, false, true, true);
			assertThat(occurrences("lock:key-0")).isOne();
			return null;
		});
		assertThat(output).contains("Lock 'key-0' was lost after", "Lock 'key-1' could not be renewed, trying again");
		assertThat(output).doesNotContain("'key-2'", "'key-3'");
	}

	private long occurrences(String key) {
		return this.backend.requests.stream().flatMap(List::stream).filter(key::equals).count();
	}

	@Test
	void requestThatFailsIsTriedAgain(CapturedOutput output) {
		AtomicInteger failures = new AtomicInteger(2);
		this.backend.beforeRenewal = () -> {
			if (failures.getAndDecrement() > 0) {
				throw new NoClassDefFoundError("fault");
			}
		};
		this.locks.execute(keys(3), () -> {
			await().until(() -> this.store.renewals.get() >= 3);
			assertThat(LockContext.current().orElseThrow().isValid()).isTrue();
			return null;
		});
		assertThat(output).contains("Lock 'key-2' could not be renewed, trying again");
	}

	@Test
	void keysAreRenewedTogetherUntilTheMaximumHoldTime() {
		this.backend.atOnce = true;
		this.locks.withMaxHoldTime(Duration.ofSeconds(1)).execute(keys(TOGETHER), () -> {
			LockContext lock = LockContext.current().orElseThrow();
			await().until(() -> !lock.isValid());
			return null;
		});
		// By their last milliseconds they may differ
		assertThat(this.backend.requests).hasSizeLessThan(TOGETHER);
	}

	/**
	 * Their last times differ, so that they are not renewed in one request. The first one
	 * fails, and is due again while the second one hangs.
	 */
	@Test
	void leaseThatIsDueWhileAnotherOneHangsIsRenewedAfterwards() {
		Duration lease = Duration.ofSeconds(6);
		this.store.used = Duration.ofMillis(1500);
		this.store.grant = (request) -> {
			if (request.key().equals("lock:b")) {
				Thread.sleep(20);
			}
			return true;
		};
		AtomicInteger attempts = new AtomicInteger();
		this.store.renewal = (granted) -> {
			if (granted.key().equals("lock:b")) {
				hang(lease.dividedBy(6));
			}
			else if (attempts.incrementAndGet() == 1) {
				throw new LockBackendException(granted.key(), "fails", null);
			}
			return true;
		};
		this.locks.withLeaseTime(lease).withMaxHoldTime(lease).execute(List.of("a", "b"), () -> {
			await().until(() -> attempts.get() == 2);
			return null;
		});
	}

	private static void hang(Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void leaseThatIsGivenBackIsNoLongerRenewedWithTheOthers() {
		try (LockTemplate.Scope outer = this.locks.acquire(keys(2))) {
			await().until(() -> renewed().size() == 2);
			assertThat(outer).isNotNull();
		}
		Renewals.awaitEnd(this.store.renewals::get, LEASE.dividedBy(2));
	}

	/**
	 * All threads are busy while both become due, the one with more time first.
	 */
	@Test
	void leaseThatRunsOutFirstIsRenewedFirst() throws Exception {
		CountDownLatch busy = new CountDownLatch(4);
		Semaphore free = new Semaphore(0);
		List<String> order = new CopyOnWriteArrayList<>();
		this.store.renewal = (lease) -> {
			if (lease.key().startsWith("lock:busy")) {
				busy.countDown();
				free.acquireUninterruptibly();
			}
			else {
				order.add(lease.key());
			}
			return true;
		};
		LockTemplate alone = new LockTemplate(() -> this.store, List::of).withLeaseTime(Duration.ofHours(1));
		try {
			this.store.used = Duration.ofMinutes(50);
			alone.execute(List.of("busy-1", "busy-2", "busy-3", "busy-4"), () -> {
				assertThat(busy.await(30, TimeUnit.SECONDS)).isTrue();
				this.store.used = Duration.ofMinutes(45);
				return alone.execute("longer", () -> {
					awaitJobs(alone, 1);
					this.store.used = Duration.ofMinutes(55);
					return alone.execute("shorter", () -> {
						awaitJobs(alone, 2);
						free.release();
						await().until(() -> order.size() == 2);
						free.release(3);
						return null;
					});
				});
			});
		}
		finally {
			free.release(4);
			alone.close();
		}
		assertThat(order).containsExactly("lock:shorter", "lock:longer");
	}

	private static void awaitJobs(LockTemplate locks, int number) {
		Object engine = ReflectionTestUtils.getField(locks, "engine");
		assertThat(engine).isNotNull();
		Object renewal = ReflectionTestUtils.getField(engine, "renewal");
		assertThat(renewal).isNotNull();
		ThreadPoolExecutor executor = (ThreadPoolExecutor) ReflectionTestUtils.getField(renewal, "executor");
		assertThat(executor).isNotNull();
		await().until(() -> executor.getQueue().size() == number);
	}

	private static List<String> keys(int number) {
		return IntStream.range(0, number).mapToObj((i) -> "key-" + i).toList();
	}

	/**
	 * A store that renews several leases in one request.
	 */
	private static final class Joint implements LockBackend {

		private final FakeLockBackend store;

		/** The keys of each request. */
		private final List<List<String>> requests = new CopyOnWriteArrayList<>();

		private volatile boolean atOnce;

		private volatile Runnable beforeRenewal = () -> {
		};

		private Joint(FakeLockBackend store) {
			this.store = store;
		}

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			return this.store.acquire(request);
		}

		@Override
		public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
			if (!this.atOnce) {
				return null;
			}
			List<LockLease> leases = new ArrayList<>();
			try {
				for (LockRequest request : sorted) {
					leases.add(acquire(request));
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			return leases;
		}

		@Override
		public List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime) {
			this.requests.add(leases.stream().map(LockLease::key).toList());
			this.beforeRenewal.run();
			return leases.stream().map((lease) -> renew(lease, leaseTime)).toList();
		}

		private static CompletionStage<Boolean> renew(LockLease lease, Duration leaseTime) {
			try {
				return CompletableFuture.completedStage(lease.renew(leaseTime));
			}
			catch (RuntimeException ex) {
				return CompletableFuture.failedStage(ex);
			}
		}

		@Override
		public int renewedTogether() {
			return TOGETHER;
		}

	}

}
