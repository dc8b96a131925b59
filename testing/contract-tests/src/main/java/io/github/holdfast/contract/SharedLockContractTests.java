package io.github.holdfast.contract;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What a {@link LockBackend} must do beyond {@link LeaseExpiryContractTests} if its locks
 * can be shared.
 */
public abstract class SharedLockContractTests extends LeaseExpiryContractTests {

	private static final Duration SHORT = Duration.ofSeconds(1);

	/** A time in which no caller that must wait gets the lock. */
	private static final Duration WHILE = Duration.ofMillis(300);

	@Test
	final void sharedLocksAreOffered() {
		assertThat(backend().capabilities()).contains(LockBackend.Capability.SHARED);
	}

	@Test
	final void anyNumberOfReadersOrOneWriter() throws Exception {
		String key = newKey();
		HeldLock reader = acquired(backend(), shared(key, NO_WAIT));
		HeldLock neighbour = acquired(backend(), shared(key, NO_WAIT));
		HeldLock other = acquired(secondBackend(), shared(key, NO_WAIT));
		for (HeldLock lease : List.of(reader, other, neighbour)) {
			assertThat(lease.isValid()).isTrue();
			assertHeld(key);
			assertReleased(lease);
		}
		HeldLock writer = acquired(secondBackend(), request(key, NO_WAIT));
		assertThat(acquire(backend(), shared(key, NO_WAIT))).isNull();
		assertThat(acquire(secondBackend(), shared(key, NO_WAIT))).isNull();
		assertReleased(writer);
		assertReleased(acquired(backend(), shared(key, NO_WAIT)));
		assertFree(key);
	}

	@Test
	final void sharedKeysAreIndependent() throws Exception {
		acquired(backend(), shared(newKey(), NO_WAIT));
		assertFree(newKey());
	}

	@Test
	final void writerWaitsForTheLastReader() throws Exception {
		String key = newKey();
		HeldLock reader = acquired(backend(), shared(key, NO_WAIT));
		HeldLock other = acquired(secondBackend(), shared(key, NO_WAIT));
		Waiter<@Nullable HeldLock> writer = waiter(backend(), key, LONG);
		assertReleased(other);
		await().during(WHILE).atMost(SLACK).until(() -> !writer.isDone());
		assertReleased(reader);
		assertReleased(writer.result());
	}

	@Test
	final void allReadersWaitForTheWriter() throws Exception {
		String key = newKey();
		HeldLock writer = acquired(backend(), key);
		List<Waiter<@Nullable HeldLock>> readers = List.of(reader(backend(), key, LONG),
				reader(secondBackend(), key, LONG), reader(backend(), key, LONG), reader(secondBackend(), key, LONG));
		await().during(WHILE).atMost(SLACK).until(() -> readers.stream().noneMatch(Waiter::isDone));
		assertReleased(writer);
		// All at the same time, because none of them leaves
		assertThat(results(readers)).doesNotContainNull().allSatisfy((lease) -> assertThat(lease.isValid()).isTrue());
		assertHeld(key);
	}

	@Test
	final void readersDoNotPassAWriterThatWaits() throws Exception {
		String key = newKey();
		HeldLock early = acquired(backend(), shared(key, NO_WAIT));
		Waiter<@Nullable HeldLock> writer = waiter(backend(), key, LONG);
		awaitWriter(key);
		Waiter<@Nullable HeldLock> late = reader(secondBackend(), key, LONG);
		// Longer than a store may keep a waiter that sends nothing
		await().during(Duration.ofSeconds(7)).atMost(LONG).until(() -> !writer.isDone() && !late.isDone());
		assertReleased(early);
		HeldLock written = writer.result();
		assertThat(late.isDone()).isFalse();
		assertReleased(written);
		assertReleased(late.result());
	}

	@Test
	final void writerIsServedAmongReadersThatNeverPause() throws Exception {
		String key = newKey();
		HeldLock first = acquired(backend(), shared(key, NO_WAIT));
		Waiter<@Nullable HeldLock> writer = waiter(secondBackend(), key, LONG);
		List<Waiter<Integer>> readers = waiters(4, () -> {
			int reads = 0;
			HeldLock lease = acquire(backend(), shared(key, SLACK));
			while (lease != null && !writer.isDone()) {
				HeldLock next = acquire(secondBackend(), shared(key, Duration.ofMillis(100)));
				lease.release();
				lease = next;
				reads++;
			}
			if (lease != null) {
				lease.release();
			}
			return reads;
		});
		first.release();
		assertReleased(writer.result());
		results(readers);
		assertFree(key);
	}

	@Test
	final void writerThatGivesUpLetsReadersIn() throws Exception {
		String key = newKey();
		HeldLock early = acquired(backend(), shared(key, NO_WAIT));
		assertThat(acquire(secondBackend(), request(key, WHILE))).isNull();
		awaitReader(key);
		Waiter<@Nullable HeldLock> writer = waiter(secondBackend(), key, LONG);
		awaitWriter(key);
		writer.interruptAfter(0);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(writer::result)
			.withCauseInstanceOf(InterruptedException.class);
		awaitReader(key);
		assertReleased(early);
		assertFree(key);
	}

	@Test
	final void readerThatGivesUpHoldsNothing() throws Exception {
		String key = newKey();
		HeldLock writer = acquired(backend(), key);
		assertThat(acquire(secondBackend(), shared(key, WHILE))).isNull();
		for (int delay : List.of(0, 1, 5, 20, 100)) {
			Waiter<@Nullable HeldLock> reader = reader(secondBackend(), key, LONG);
			reader.interruptAfter(delay);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::result)
				.withCauseInstanceOf(InterruptedException.class);
		}
		assertReleased(writer);
		await().during(WHILE).atMost(SLACK).untilAsserted(() -> assertFree(key));
	}

	@Test
	final void readerReleasesOnlyItself() throws Exception {
		String key = newKey();
		HeldLock reader = acquired(backend(), shared(key, NO_WAIT));
		HeldLock other = acquired(backend(), shared(key, NO_WAIT));
		assertReleased(reader);
		assertThat(reader.release()).isFalse();
		assertThat(reader.renew(LONG)).isFalse();
		assertThat(reader.isValid()).isFalse();
		assertThat(other.renew(LONG)).isTrue();
		assertHeld(key);
		assertReleased(other);
		HeldLock writer = acquired(secondBackend(), request(key, NO_WAIT));
		assertThat(reader.release()).isFalse();
		assertThat(other.renew(LONG)).isFalse();
		assertHeld(key);
		assertReleased(writer);
	}

	@Test
	final void lockIsHeldUntilTheLastLeaseEnds() throws Exception {
		String key = newKey();
		long start = System.nanoTime();
		acquired(backend(), shared(key, NO_WAIT, SHORT.multipliedBy(3)));
		acquired(secondBackend(), shared(key, NO_WAIT, SHORT));
		HeldLock successor = acquired(secondBackend(), request(key, LONG));
		assertThat(since(start)).isBetween(SHORT.multipliedBy(3).minusMillis(20), SHORT.multipliedBy(3).plus(SLACK));
		assertReleased(successor);
	}

	@Test
	final void lockIsFreeWhenALongerLeaseWasReleasedAndAShorterOneEnds() throws Exception {
		String key = newKey();
		HeldLock longer = acquired(backend(), shared(key, NO_WAIT));
		acquired(secondBackend(), shared(key, NO_WAIT, SHORT));
		assertReleased(longer);
		long start = System.nanoTime();
		assertReleased(acquired(backend(), request(key, LONG)));
		assertThat(since(start)).isLessThan(SHORT.plus(SLACK));
	}

	@Test
	final void expiredReaderRemovesNobody() throws Exception {
		String key = newKey();
		HeldLock stale = acquired(backend(), shared(key, NO_WAIT, SHORT));
		HeldLock alsoStale = acquired(backend(), shared(key, NO_WAIT, SHORT));
		HeldLock other = acquired(secondBackend(), shared(key, NO_WAIT));
		String clock = newKey();
		acquired(backend(), request(clock, NO_WAIT, SHORT));
		// When this one has ended, everything before it has also ended in the store
		assertReleased(acquired(secondBackend(), request(clock, LONG)));
		assertThat(alsoStale.renew(LONG)).isFalse();
		assertThat(stale.release()).isFalse();
		assertHeld(key);
		assertThat(other.renew(LONG)).isTrue();
		assertReleased(other);
		assertFree(key);
	}

	@Test
	final void expiredReaderDoesNotFreeAWriter() throws Exception {
		String key = newKey();
		HeldLock stale = acquired(backend(), shared(key, NO_WAIT, SHORT));
		HeldLock alsoStale = acquired(backend(), shared(key, NO_WAIT, SHORT));
		HeldLock writer = acquired(secondBackend(), request(key, LONG));
		assertThat(stale.isValid()).isFalse();
		assertThat(stale.release()).isFalse();
		assertThat(alsoStale.renew(LONG)).isFalse();
		assertHeld(key);
		assertReleased(writer);
		HeldLock reader = acquired(secondBackend(), shared(key, NO_WAIT));
		assertThat(alsoStale.renew(LONG)).isFalse();
		assertReleased(reader);
		assertFree(key);
	}

	@Test
	final void renewedReaderKeepsTheLock() throws Exception {
		AtomicLong epoch = new AtomicLong();
		HeldLock reader = renewedInTime((key) -> shared(key, NO_WAIT, SHORT), LONG,
				(acquired) -> epoch.set(acquired.epoch()));
		String key = reader.key();
		assertThat(reader.epoch()).isEqualTo(epoch.get());
		assertThat(acquire(secondBackend(), request(key, SHORT.multipliedBy(3)))).isNull();
		assertThat(reader.isValid()).isTrue();
		assertThat(reader.renew(SHORT)).isTrue();
		long start = System.nanoTime();
		assertReleased(acquired(secondBackend(), request(key, LONG)));
		assertThat(since(start)).isLessThan(SHORT.plus(SLACK));
	}

	@Test
	final void epochOfAWriterIsAboveThatOfReaders() throws Exception {
		String key = newKey();
		long last = -1;
		for (int i = 0; i < 5; i++) {
			HeldLock writer = acquired(backend(), request(key, NO_WAIT));
			assertThat(writer.epoch()).isGreaterThan(last);
			assertReleased(writer);
			HeldLock reader = acquired(backend(), shared(key, NO_WAIT));
			HeldLock other = acquired(secondBackend(), shared(key, NO_WAIT));
			assertThat(reader.epoch()).isGreaterThanOrEqualTo(writer.epoch());
			assertThat(other.epoch()).isGreaterThanOrEqualTo(reader.epoch());
			last = other.epoch();
			assertReleased(reader);
			assertReleased(other);
		}
	}

	@Test
	final void writersMeetNobody() throws Exception {
		String key = newKey();
		Meetings meetings = new Meetings();
		meet((backend, writes) -> {
			HeldLock lease = ask(backend, writes ? request(key, LONG) : shared(key, LONG));
			assertThat(lease).isNotNull();
			meetings.enter(writes);
			assertThat(lease.isValid()).isTrue();
			assertThat(lease.release()).isTrue();
		});
		assertThat(meetings.ofWriters).hasValue(0);
		assertThat(meetings.value).isEqualTo(Meetings.WRITES);
		assertThat(meetings.ofReaders).as("readers beside one another").hasPositiveValue();
		assertFree(key);
	}

	/** Shows that {@link #writersMeetNobody()} would notice. */
	@Test
	final void writersWithoutLockMeetOthers() throws Exception {
		Meetings meetings = new Meetings();
		meet((backend, writes) -> meetings.enter(writes));
		assertThat(meetings.ofWriters).hasPositiveValue();
		assertThat(meetings.value).isLessThan(Meetings.WRITES);
	}

	private static LockRequest shared(String key, Duration waitTime) {
		return shared(key, waitTime, LONG);
	}

	private static LockRequest shared(String key, Duration waitTime, Duration leaseTime) {
		return request(key, LockMode.SHARED, waitTime, leaseTime);
	}

	private Waiter<@Nullable HeldLock> reader(LockBackend backend, String key, Duration waitTime)
			throws InterruptedException {
		return waiter(() -> acquire(backend, shared(key, waitTime)));
	}

	/** Waits until the last reader has left. */
	private void awaitWriter(String key) {
		await().atMost(SLACK).until(() -> !isReadable(key));
	}

	private void awaitReader(String key) {
		await().atMost(SLACK).until(() -> isReadable(key));
	}

	private boolean isReadable(String key) throws Exception {
		HeldLock reader = acquire(backend(), shared(key, NO_WAIT));
		if (reader != null) {
			assertReleased(reader);
		}
		return reader != null;
	}

	private void meet(Visitor visitor) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(Meetings.THREADS);
		AtomicInteger number = new AtomicInteger();
		results(waiters(Meetings.THREADS, () -> {
			int index = number.getAndIncrement();
			barrier.await();
			for (int i = 0; i < Meetings.TURNS; i++) {
				visitor.visit(((index & 1) == 0) ? backend() : secondBackend(), index < Meetings.WRITERS);
			}
			return true;
		}));
	}

	/** Reads or writes once. */
	@FunctionalInterface
	private interface Visitor {

		void visit(LockBackend backend, boolean writes) throws Exception;

	}

	/** Counts who meets whom, and loses updates of writers that meet. */
	private static final class Meetings {

		static final int THREADS = 10;

		static final int WRITERS = 4;

		static final int TURNS = 15;

		static final int WRITES = WRITERS * TURNS;

		private final AtomicInteger readers = new AtomicInteger();

		private final AtomicInteger writers = new AtomicInteger();

		private final AtomicInteger ofReaders = new AtomicInteger();

		private final AtomicInteger ofWriters = new AtomicInteger();

		private volatile int value;

		void enter(boolean writes) throws InterruptedException {
			AtomicInteger own = writes ? this.writers : this.readers;
			int before = own.getAndIncrement();
			if ((writes && before > 0) || (writes ? this.readers : this.writers).get() > 0) {
				this.ofWriters.incrementAndGet();
			}
			else if (before > 0) {
				this.ofReaders.incrementAndGet();
			}
			int read = this.value;
			Thread.sleep(2);
			if (writes) {
				this.value = read + 1;
			}
			else if (this.value != read) {
				this.ofWriters.incrementAndGet();
			}
			own.decrementAndGet();
		}

	}

}
