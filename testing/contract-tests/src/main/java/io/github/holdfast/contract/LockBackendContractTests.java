package io.github.holdfast.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What every {@link LockBackend} must do. To test a backend, extend this class, or
 * {@link LeaseExpiryContractTests} if its leases expire by time, and supply two clients
 * of one store. Nothing else can be overridden, and nothing may be disabled.
 */
@Timeout(180)
public abstract class LockBackendContractTests {

	static final Duration NO_WAIT = Duration.ZERO;

	/** Long enough never to end in a test that passes. */
	static final Duration LONG = Duration.ofSeconds(60);

	/** What a slow machine may add to anything. */
	static final Duration SLACK = Duration.ofSeconds(10);

	/** Somewhat less than the shortest time that a client waits for an answer. */
	private static final Duration STALL = Duration.ofMillis(900);

	private final Queue<HeldLock> granted = new ConcurrentLinkedQueue<>();

	private final List<Waiter<?>> threads = new ArrayList<>();

	/**
	 * Supplies a client of the store. It can be called several times in one test and then
	 * returns the same client.
	 * @return the backend
	 */
	protected abstract LockBackend backend();

	/**
	 * Supplies another client of the same store, like the client of another node: with
	 * its own connections, if the store has connections.
	 * @return the backend
	 */
	protected abstract LockBackend secondBackend();

	@AfterEach
	final void releaseAll() throws InterruptedException {
		this.threads.forEach((waiter) -> waiter.thread.interrupt());
		for (Waiter<?> waiter : this.threads) {
			waiter.thread.join(SLACK.toMillis());
		}
		this.granted.forEach(HeldLock::releaseQuietly);
		this.granted.clear();
		this.threads.removeIf((waiter) -> !waiter.thread.isAlive());
		assertThat(this.threads).as("waiters that ignored their interrupt").isEmpty();
	}

	@Test
	final void acquireWhenFree() throws Exception {
		long before = System.nanoTime();
		HeldLock lease = acquired(backend(), request(newKey(), LONG));
		assertThat(lease.sentAt() - before).isBetween(0L, System.nanoTime() - before);
		assertThat(lease.epoch()).isPositive();
		assertThat(lease.isValid()).isTrue();
	}

	@Test
	final void acquireWhenHeldReturnsNullAfterWaitTime() throws Exception {
		String key = newKey();
		acquired(backend(), key);
		long start = System.nanoTime();
		assertThat(acquire(backend(), request(key, Duration.ofMillis(300)))).isNull();
		// The end of a wait may be rounded to the store's resolution
		assertThat(since(start)).isBetween(Duration.ofMillis(280), SLACK);
	}

	@Test
	final void acquireWithZeroWaitTriesOnce() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), request(key, NO_WAIT));
		long start = System.nanoTime();
		assertHeld(key);
		assertThat(since(start)).isLessThan(SLACK);
		assertReleased(lease);
		acquired(backend(), request(key, NO_WAIT));
	}

	@Test
	final void acquireWaitsUntilReleased() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), key);
		Waiter<HeldLock> local = waiter(backend(), key, LONG);
		Waiter<HeldLock> remote = waiter(secondBackend(), key, LONG);
		await().during(Duration.ofMillis(300)).atMost(SLACK).until(() -> !local.isDone() && !remote.isDone());
		assertReleased(lease);
		await().atMost(LONG).until(() -> local.isDone() || remote.isDone());
		Waiter<HeldLock> first = local.isDone() ? local : remote;
		assertReleased(first.result());
		assertThat(((first == local) ? remote : local).result()).isNotNull();
	}

	@Test
	final void keysAreIndependent() throws Exception {
		acquired(backend(), newKey());
		acquired(backend(), newKey());
		acquired(secondBackend(), newKey());
	}

	@Test
	final void secondBackendInstanceSeesTheLock() throws Exception {
		String key = newKey();
		HeldLock first = acquired(backend(), key);
		assertThat(acquire(secondBackend(), request(key, NO_WAIT))).isNull();
		assertReleased(first);
		HeldLock second = acquired(secondBackend(), request(key, NO_WAIT));
		assertThat(acquire(backend(), request(key, NO_WAIT))).isNull();
		assertReleased(second);
	}

	@Test
	final void releaseFromAnotherThread() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), key);
		assertThat(waiter(() -> lease.release()).result()).isTrue();
		acquired(backend(), request(key, NO_WAIT));
	}

	@Test
	final void releaseByManyThreadsSucceedsOnce() throws Exception {
		HeldLock lease = acquired(backend(), newKey());
		CyclicBarrier barrier = new CyclicBarrier(4);
		List<Waiter<Boolean>> releases = waiters(4, () -> {
			barrier.await();
			return lease.release();
		});
		assertThat(results(releases)).containsOnlyOnce(true).hasSize(4);
	}

	@Test
	final void staleReleaseDoesNotFreeSuccessor() throws Exception {
		String key = newKey();
		HeldLock stale = acquired(backend(), key);
		assertReleased(stale);
		HeldLock successor = acquired(secondBackend(), request(key, NO_WAIT));
		assertThat(stale.release()).isFalse();
		assertHeld(key);
		assertThat(successor.isValid()).isTrue();
		assertReleased(successor);
	}

	@Test
	final void releaseThenAcquireWithZeroWaitAlwaysSucceeds() throws Exception {
		String key = newKey();
		for (int i = 0; i < 500; i++) {
			// Each client follows itself as often as the other one
			LockBackend backend = ((i & 2) == 0) ? backend() : secondBackend();
			HeldLock lease = ask(backend, request(key, NO_WAIT));
			assertThat(lease).as("acquisition %d", i).isNotNull();
			assertThat(lease.release()).as("release %d", i).isTrue();
		}
	}

	@Test
	final void renewWhileHeld() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), key);
		long epoch = lease.epoch();
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(lease.isValid()).isTrue();
		assertThat(lease.epoch()).isEqualTo(epoch);
		assertHeld(key);
		assertReleased(lease);
	}

	@Test
	final void renewAfterReleaseReportsLoss() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), key);
		assertReleased(lease);
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(lease.isValid()).isFalse();
		assertFree(key);
	}

	@Test
	final void staleRenewDoesNotTakeFromSuccessor() throws Exception {
		String key = newKey();
		HeldLock stale = acquired(backend(), key);
		assertReleased(stale);
		HeldLock successor = acquired(secondBackend(), request(key, NO_WAIT));
		assertThat(stale.renew(LONG)).isFalse();
		assertThat(successor.renew(LONG)).isTrue();
		assertReleased(successor);
	}

	@Test
	final void renewRacingReleaseHoldsNothing() throws Exception {
		for (int i = 0; i < 50; i++) {
			String key = newKey();
			HeldLock lease = acquired(backend(), key);
			CyclicBarrier barrier = new CyclicBarrier(2);
			Waiter<Boolean> renewal = waiter(() -> {
				barrier.await();
				return lease.renew(LONG);
			});
			barrier.await();
			assertThat(lease.release()).isTrue();
			renewal.result();
			assertThat(lease.isValid()).isFalse();
			assertFree(key);
		}
	}

	@Test
	final void leaseIsNotValidOnceReleased() throws Exception {
		HeldLock lease = acquired(backend(), newKey());
		assertThat(lease.isValid()).isTrue();
		assertReleased(lease);
		assertThat(lease.isValid()).isFalse();
		Duration remaining = lease.remaining();
		if (remaining != null) {
			assertThat(remaining).isZero();
		}
	}

	@Test
	final void interruptedWaitHoldsNothing() throws Exception {
		// From before the first attempt until well into the wait
		List<String> keys = new ArrayList<>();
		for (int delay : List.of(0, 1, 5, 20, 100, 300)) {
			String key = newKey();
			keys.add(key);
			HeldLock lease = acquired(backend(), key);
			Waiter<HeldLock> waiter = waiter(secondBackend(), key, LONG);
			waiter.interruptAfter(delay);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::result)
				.withCauseInstanceOf(InterruptedException.class);
			assertHeld(key);
			assertReleased(lease);
			assertFree(key);
		}
		assertFreeForGood(keys);
	}

	@Test
	final void timedOutWaitHoldsNothing() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), key);
		assertThat(acquire(secondBackend(), request(key, Duration.ofMillis(200)))).isNull();
		assertThat(acquire(backend(), request(key, Duration.ofMillis(200)))).isNull();
		assertReleased(lease);
		assertFreeForGood(List.of(key));
	}

	@Test
	final void interruptRacingReleaseHoldsNothingOrTheLock() throws Exception {
		Random random = new Random();
		for (int i = 0; i < 30; i++) {
			String key = newKey();
			HeldLock lease = acquired(backend(), key);
			Waiter<HeldLock> waiter = waiter(secondBackend(), key, LONG);
			Waiter<Boolean> release = waiter(() -> {
				Thread.sleep(random.nextInt(30));
				return lease.release();
			});
			waiter.interruptAfter(random.nextInt(30));
			assertThat(release.result()).isTrue();
			assertHoldsNothingOrTheLock(key, waiter);
		}
	}

	@Test
	final void timeOutRacingReleaseHoldsNothingOrTheLock() throws Exception {
		Random random = new Random();
		for (int i = 0; i < 30; i++) {
			String key = newKey();
			HeldLock lease = acquired(backend(), key);
			Waiter<HeldLock> waiter = waiter(secondBackend(), key, Duration.ofMillis(30));
			Thread.sleep(random.nextInt(60));
			assertReleased(lease);
			assertHoldsNothingOrTheLock(key, waiter);
		}
	}

	@Test
	final void epochRisesStrictlyWithEachGrant() throws Exception {
		String key = newKey();
		long last = -1;
		for (int i = 0; i < 40; i++) {
			HeldLock lease = acquired(((i & 2) == 0) ? backend() : secondBackend(), request(key, NO_WAIT));
			assertThat(lease.epoch()).isGreaterThan(last);
			last = lease.epoch();
			assertReleased(lease);
		}
	}

	@Test
	final void contendersNeverOverlap() throws Exception {
		String key = newKey();
		Counter counter = new Counter();
		contend((backend) -> {
			HeldLock lease = ask(backend, request(key, LONG));
			assertThat(lease).isNotNull();
			counter.increment();
			assertThat(lease.isValid()).isTrue();
			assertThat(lease.release()).isTrue();
		});
		assertThat(counter.overlaps).hasValue(0);
		assertThat(counter.value).isEqualTo(Counter.EXPECTED);
	}

	/** Shows that {@link #contendersNeverOverlap()} would notice. */
	@Test
	final void contendersWithoutLockDoOverlap() throws Exception {
		Counter counter = new Counter();
		contend((backend) -> counter.increment());
		assertThat(counter.overlaps).hasPositiveValue();
		assertThat(counter.value).isLessThan(Counter.EXPECTED);
	}

	@Test
	final void firstContendersForANewKeyGetExactlyOneLock() throws Exception {
		for (int i = 0; i < 10; i++) {
			String key = newKey();
			CyclicBarrier barrier = new CyclicBarrier(8);
			AtomicInteger number = new AtomicInteger();
			List<@Nullable HeldLock> leases = results(waiters(8, () -> {
				LockBackend backend = ((number.getAndIncrement() & 1) == 0) ? backend() : secondBackend();
				barrier.await();
				return acquire(backend, request(key, NO_WAIT));
			}));
			assertThat(leases).filteredOn((lease) -> lease != null).hasSize(1);
		}
	}

	@Test
	final void everyWaiterGetsTheLockEventually() throws Exception {
		String key = newKey();
		HeldLock lease = acquired(backend(), key);
		AtomicInteger number = new AtomicInteger();
		List<Waiter<Boolean>> waiters = waiters(10, () -> {
			LockBackend backend = ((number.getAndIncrement() & 1) == 0) ? backend() : secondBackend();
			HeldLock mine = ask(backend, request(key, LONG));
			return mine != null && mine.release();
		});
		assertReleased(lease);
		assertThat(results(waiters)).containsOnly(true);
	}

	@Test
	final void manyKeysLeaveNothingBehind() throws Exception {
		List<String> keys = Stream.generate(LockBackendContractTests::newKey).limit(500).toList();
		for (String key : keys) {
			assertReleased(acquired(backend(), request(key, NO_WAIT)));
		}
		for (String key : keys) {
			assertReleased(acquired(secondBackend(), request(key, NO_WAIT)));
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("oddTexts")
	final void oddKeys(String description, String text) throws Exception {
		String id = newKey();
		for (String key : List.of(id + text, text + id, text + id + text)) {
			HeldLock lease = acquired(backend(), request(key, NO_WAIT));
			assertHeld(key);
			assertThat(lease.renew(LONG)).isTrue();
			assertReleased(lease);
			assertFree(key);
		}
	}

	static Stream<Arguments> oddTexts() {
		return Stream.of(arguments("blank", " "), arguments("blanks", "   "), arguments("tab", "\t"),
				arguments("line break", "\r\n"), arguments("slash", "/"), arguments("slashes", "//"),
				arguments("dots", "/../"), arguments("percent", "%"), arguments("underscore", "_"),
				arguments("escape", "%2F%00"), arguments("backslash", "\\"), arguments("quote", "'"),
				arguments("quotes", "'; -- \"`"), arguments("braces", "{}"), arguments("closing brace", "}{"),
				arguments("asterisk", "*?[a]"), arguments("colon", "::"), arguments("NUL", "\0"),
				arguments("control characters", "\u0001\u0007\u001b\u007f\u0085"), arguments("accents", "éüñß"),
				arguments("CJK", "仓库"), arguments("right to left", "מלאי"), arguments("emoji", "📦"),
				arguments("joined emoji", "👩🏽‍🚒"), arguments("byte order mark", "\ufeff"),
				arguments("not a character", "\uffff"));
	}

	@ParameterizedTest
	@MethodSource
	final void keysOfAnyLength(int length) throws Exception {
		for (String filler : List.of("x", "é", "仓")) {
			String key = newKey();
			key = key + filler.repeat(Math.max(0, length - key.length()));
			HeldLock lease = acquired(backend(), request(key, NO_WAIT));
			assertHeld(key);
			assertReleased(lease);
			assertFree(key);
		}
	}

	static Stream<Integer> keysOfAnyLength() {
		return Stream.of(64, 65, 190, 191, 192, 193, 200, 255, 256, 511, 512, 513, 767, 768, 1024, 4096);
	}

	/** Whatever the characters are, and up to a megabyte of them. */
	@Test
	final void keysOfAnyCharactersAreLocksOfTheirOwn() throws Exception {
		Random random = new Random(44);
		HeldLock before = acquired(backend(), request(newKey(), NO_WAIT));
		for (int length : List.of(1, 1, 2, 3, 5, 8, 20, 50, 60, 65, 120, 180, 200, 250, 500, 1000, 300_000)) {
			String key = newKey() + randomText(random, length);
			HeldLock lease = acquired(secondBackend(), request(key, NO_WAIT));
			assertHeld(key);
			assertReleased(before);
			assertFree(before.key());
			before = lease;
		}
	}

	private static String randomText(Random random, int length) {
		return random.ints(0, Character.MAX_CODE_POINT + 1).map((any) -> switch (random.nextInt(4)) {
			case 0 -> any % 0xa0;
			case 1 -> any % 0x500;
			case 2 -> any % 0x10000;
			default -> any;
		})
			.filter((codePoint) -> codePoint < Character.MIN_SURROGATE || codePoint > Character.MAX_SURROGATE)
			.limit(length)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("similarTexts")
	final void similarKeysAreDifferentLocks(String description, String left, String right) throws Exception {
		String id = newKey();
		HeldLock one = acquired(backend(), request(id + left, NO_WAIT));
		HeldLock other = acquired(secondBackend(), request(id + right, NO_WAIT));
		assertReleased(one);
		assertHeld(id + right);
		assertFree(id + left);
		assertReleased(other);
	}

	static Stream<Arguments> similarTexts() {
		String common = "x".repeat(300);
		return Stream.of(arguments("trailing blank", "a", "a "), arguments("trailing blanks", "a ", "a  "),
				arguments("trailing NUL", "a", "a\0"), arguments("trailing tab", "a", "a\t"),
				arguments("trailing line break", "a", "a\n"), arguments("trailing slash", "a", "a/"),
				arguments("trailing byte order mark", "a", "a\ufeff"), arguments("case", "SKU-a", "SKU-A"),
				arguments("case of other letters", "é", "É"), arguments("accent", "e", "é"),
				arguments("normalisation", "\u00e9", "e\u0301"), arguments("sharp s", "ß", "ss"),
				arguments("dotless i", "i", "ı"), arguments("full width", "a", "\uff41"),
				arguments("emoji", "📦", "📫"), arguments("emoji and question mark", "📦", "?"),
				arguments("accent and question mark", "é", "?"), arguments("zero width", "ab", "a\u200bb"),
				arguments("child", "a", "a/0"), arguments("wildcards", "a%", "ab"), arguments("wildcard", "a_", "ab"),
				arguments("escaped", "a/b", "a%2Fb"), arguments("backslash", "a\\b", "ab"),
				arguments("quote", "a'", "a''"), arguments("end of long keys", common + "a", common + "b"),
				arguments("length of long keys", common, common + "x"),
				arguments("end of very long keys", common.repeat(13) + "a", common.repeat(13) + "b"));
	}

	@Test
	final void differentBeginningsAreDifferentLocks() throws Exception {
		String id = newKey();
		acquired(backend(), request(id, NO_WAIT));
		for (String prefix : List.of(" ", "\t", "/", "\0", "x")) {
			acquired(secondBackend(), request(prefix + id, NO_WAIT));
		}
	}

	static String newKey() {
		return "contract:" + UUID.randomUUID();
	}

	static LockRequest request(String key, Duration waitTime) {
		return request(key, waitTime, LONG);
	}

	static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return request(key, LockMode.EXCLUSIVE, waitTime, leaseTime);
	}

	static LockRequest request(String key, LockMode mode, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "contract", mode, false, waitTime, leaseTime, new Owner("contract test"));
	}

	final HeldLock acquired(LockBackend backend, String key) throws InterruptedException {
		return acquired(backend, request(key, NO_WAIT));
	}

	final HeldLock acquired(LockBackend backend, LockRequest request) throws InterruptedException {
		HeldLock lease = acquire(backend, request);
		assertThat(lease).as("lease of '%s'", request.key()).isNotNull();
		return lease;
	}

	final @Nullable HeldLock acquire(LockBackend backend, LockRequest request) throws InterruptedException {
		HeldLock lease = ask(backend, request);
		if (lease != null) {
			this.granted.add(lease);
		}
		return lease;
	}

	/**
	 * A single attempt that took as long as a store may take for its answer proves
	 * nothing. Then another one follows, for another owner.
	 */
	static @Nullable HeldLock ask(LockBackend backend, LockRequest request) throws InterruptedException {
		long start = System.nanoTime();
		try {
			HeldLock lease = askOnce(backend, request);
			if (lease != null || !isStalled(request, start)) {
				return lease;
			}
		}
		catch (LockBackendException ex) {
			if (!isStalled(request, start)) {
				throw ex;
			}
		}
		return askOnce(backend, request(request.key(), request.mode(), NO_WAIT, request.leaseTime()));
	}

	private static @Nullable HeldLock askOnce(LockBackend backend, LockRequest request) throws InterruptedException {
		LockBackend.Lease lease = backend.acquire(request);
		return (lease != null) ? new HeldLock(request, lease) : null;
	}

	private static boolean isStalled(LockRequest request, long start) {
		return request.waitTime().isZero() && since(start).compareTo(STALL) >= 0;
	}

	static void assertReleased(@Nullable HeldLock lease) throws Exception {
		assertThat(lease).isNotNull();
		assertThat(lease.release()).as("released, not lost").isTrue();
	}

	final void assertHeld(String key) throws InterruptedException {
		assertThat(acquire(backend(), request(key, NO_WAIT))).as("a second lease, same client").isNull();
		assertThat(acquire(secondBackend(), request(key, NO_WAIT))).as("a second lease, other client").isNull();
	}

	final void assertFree(String key) throws Exception {
		assertReleased(acquire(secondBackend(), request(key, NO_WAIT)));
		assertReleased(acquire(backend(), request(key, NO_WAIT)));
	}

	/**
	 * Whatever an abandoned wait has left in the store would win the lock in this time.
	 */
	private void assertFreeForGood(List<String> keys) throws Exception {
		long start = System.nanoTime();
		do {
			for (String key : keys) {
				assertFree(key);
			}
			Thread.sleep(10);
		}
		while (since(start).toMillis() < 400);
	}

	private void assertHoldsNothingOrTheLock(String key, Waiter<HeldLock> waiter) throws Exception {
		HeldLock lease = waiter.resultUnlessInterrupted();
		if (lease != null) {
			assertThat(lease.isValid()).isTrue();
			assertHeld(key);
			assertReleased(lease);
		}
		assertFree(key);
	}

	static Duration since(long start) {
		return Duration.ofNanos(System.nanoTime() - start);
	}

	final Waiter<@Nullable HeldLock> waiter(LockBackend backend, String key, Duration waitTime)
			throws InterruptedException {
		return waiter(() -> acquire(backend, request(key, waitTime)));
	}

	final <T extends @Nullable Object> Waiter<T> waiter(Callable<T> task) throws InterruptedException {
		Waiter<T> waiter = new Waiter<>(task);
		this.threads.add(waiter);
		waiter.thread.start();
		waiter.started.await();
		return waiter;
	}

	final <T extends @Nullable Object> List<Waiter<T>> waiters(int count, Callable<T> task)
			throws InterruptedException {
		List<Waiter<T>> waiters = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			waiters.add(waiter(task));
		}
		return waiters;
	}

	static <T extends @Nullable Object> List<T> results(List<Waiter<T>> waiters) throws Exception {
		List<T> results = new ArrayList<>();
		for (Waiter<T> waiter : waiters) {
			results.add(waiter.result());
		}
		return results;
	}

	private void contend(Contender contender) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(Counter.THREADS);
		AtomicInteger number = new AtomicInteger();
		results(waiters(Counter.THREADS, () -> {
			LockBackend backend = ((number.getAndIncrement() & 1) == 0) ? backend() : secondBackend();
			barrier.await();
			for (int i = 0; i < Counter.TURNS; i++) {
				contender.turn(backend);
			}
			return true;
		}));
	}

	/** Does one turn under contention. */
	@FunctionalInterface
	private interface Contender {

		void turn(LockBackend backend) throws Exception;

	}

	/**
	 * Loses updates unless it is protected. Its field is volatile, because the Java
	 * memory model does not include a lock in another process.
	 */
	private static final class Counter {

		static final int THREADS = 8;

		static final int TURNS = 20;

		static final int EXPECTED = THREADS * TURNS;

		private final AtomicInteger inside = new AtomicInteger();

		private final AtomicInteger overlaps = new AtomicInteger();

		private volatile int value;

		void increment() throws InterruptedException {
			if (this.inside.incrementAndGet() > 1) {
				this.overlaps.incrementAndGet();
			}
			int read = this.value;
			Thread.sleep(1);
			this.value = read + 1;
			this.inside.decrementAndGet();
		}

	}

	/**
	 * A call on a separate thread.
	 *
	 * @param <T> the type of its result
	 */
	static final class Waiter<T extends @Nullable Object> {

		private final CountDownLatch started = new CountDownLatch(1);

		private final FutureTask<T> task;

		private final Thread thread;

		private Waiter(Callable<T> task) {
			this.task = new FutureTask<>(() -> {
				this.started.countDown();
				return task.call();
			});
			this.thread = new Thread(this.task, "contract-waiter");
			this.thread.setDaemon(true);
		}

		boolean isDone() {
			return this.task.isDone();
		}

		T result() throws Exception {
			return this.task.get(LONG.plus(SLACK).toMillis(), TimeUnit.MILLISECONDS);
		}

		@Nullable T resultUnlessInterrupted() throws Exception {
			try {
				return result();
			}
			catch (ExecutionException ex) {
				assertThat(ex).hasCauseInstanceOf(InterruptedException.class);
				return null;
			}
		}

		void interruptAfter(int millis) throws InterruptedException {
			Thread.sleep(millis);
			this.thread.interrupt();
		}

	}

}
