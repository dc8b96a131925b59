package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The leases of one call are renewed one by one, each on its own merits, and those that
 * run out first come first.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
@Tag("F76")
@Tag("race")
class RenewalOfSeveralKeysTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private final FakeLockBackend store = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> this.store, List::of).withLeaseTime(LEASE);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void keysThatWereTakenAtOnceAreRenewed() {
		LockTemplate atOnce = new LockTemplate(() -> new AtOnce(this.store), List::of).withLeaseTime(LEASE);
		try {
			assertRenewed(atOnce, keys(25));
		}
		finally {
			TemplateAccess.close(atOnce);
		}
	}

	@Test
	void keysThatWereTakenOneByOneAreRenewed() {
		assertRenewed(this.locks, keys(25));
	}

	private void assertRenewed(LockTemplate locks, List<String> keys) {
		Set<String> renewed = ConcurrentHashMap.newKeySet();
		this.store.renewal = (lease) -> {
			renewed.add(lease.key());
			return true;
		};
		locks.execute(keys, () -> {
			await().until(() -> renewed.size() == keys.size());
			await().untilAsserted(() -> assertThat(this.store.renewals).hasValueGreaterThan(3 * keys.size()));
			assertThat(LockContext.current().orElseThrow().isValid()).isTrue();
			return null;
		});
		assertThat(this.store.held()).isEmpty();
	}

	@Test
	void oneThatIsLostAndOneThatFailsAreReportedAndTheOthersRenewed(CapturedOutput output) {
		List<String> asked = new CopyOnWriteArrayList<>();
		this.store.renewal = (lease) -> {
			asked.add(lease.key());
			if (lease.key().equals("lock:key-1")) {
				throw new LockBackendException(lease.key(), "fails", null);
			}
			return !lease.key().equals("lock:key-0");
		};
		this.locks.execute(keys(4), () -> {
			await().until(() -> Collections.frequency(asked, "lock:key-3") > 3);
			List<LockLease> leases = LockContext.current().orElseThrow().leases();
			assertThat(leases).extracting(LockLease::isValid).containsExactly(false, false, true, true);
			assertThat(asked).containsOnlyOnce("lock:key-0");
			return null;
		});
		assertThat(output).contains("Lock 'key-0' was lost after", "Lock 'key-1' could not be renewed, trying again");
		assertThat(output).doesNotContain("'key-2'", "'key-3'");
	}

	/**
	 * The first one fails, and is due again while the second one hangs.
	 */
	@Test
	void leaseThatIsDueWhileAnotherOneHangsIsRenewed() {
		Duration lease = Duration.ofSeconds(6);
		this.store.used = Duration.ofMillis(1500);
		AtomicInteger attempts = new AtomicInteger();
		CountDownLatch over = new CountDownLatch(1);
		this.store.renewal = (granted) -> {
			if (granted.key().equals("lock:b")) {
				awaitUninterrupted(over);
			}
			else if (attempts.incrementAndGet() == 1) {
				throw new LockBackendException(granted.key(), "fails", null);
			}
			return true;
		};
		this.locks.withLeaseTime(lease).withMaxHoldTime(lease).execute(List.of("a", "b"), () -> {
			await().until(() -> attempts.get() == 2);
			over.countDown();
			return null;
		});
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void leasesThatAreGivenBackAreNoLongerRenewed() {
		try (LockTemplate.Scope scope = this.locks.acquire(keys(2))) {
			await().until(() -> this.store.renewals.get() >= 2);
			assertThat(scope).isNotNull();
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
			TemplateAccess.close(alone);
		}
		assertThat(order).containsExactly("lock:shorter", "lock:longer");
	}

	private static void awaitJobs(LockTemplate locks, int number) {
		Object engine = ReflectionTestUtils.getField(locks, "engine");
		assertThat(engine).isNotNull();
		Map<?, ?> known = (Map<?, ?>) ReflectionTestUtils.getField(engine, "known");
		assertThat(known).hasSize(1);
		LockRenewal renewal = ((KnownBackend) known.values().iterator().next()).renewal();
		ThreadPoolExecutor executor = (ThreadPoolExecutor) ReflectionTestUtils.getField(renewal, "executor");
		assertThat(executor).isNotNull();
		await().until(() -> executor.getQueue().size() == number);
	}

	private static List<String> keys(int number) {
		return IntStream.range(0, number).mapToObj((i) -> "key-" + i).toList();
	}

	/**
	 * A store that grants several keys in one request.
	 */
	private record AtOnce(FakeLockBackend store) implements LockBackend {

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			return this.store.acquire(request);
		}

		@Override
		public List<LockLease> acquireAll(List<LockRequest> sorted) {
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

	}

}
