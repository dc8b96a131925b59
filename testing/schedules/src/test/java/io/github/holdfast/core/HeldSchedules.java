package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.model.ModelStore;
import io.github.holdfast.schedules.Schedules;
import io.github.holdfast.schedules.Server;
import io.github.holdfast.schedules.Task;
import io.github.holdfast.schedules.Threads;
import io.github.holdfast.store.HandoverLimits;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.store.QueueLimits;
import io.github.holdfast.store.local.LocalLockBackend;

/**
 * Whole calls: their locks are renewed, lost, handed over, given back, and the
 * application ends meanwhile.
 */
@SuppressWarnings("try")
public class HeldSchedules {

	private static final String KEY = "key";

	private static final String STORED = "lock:" + KEY;

	/** A thread that waits for it to pass hangs. */
	private static final Duration FOREVER = Duration.ofDays(1);

	private static final long LEASE_MILLIS = 30;

	/** So that no lock is lost, as it is renewed after a third of the lease. */
	private static final long SLOW_MILLIS = 12;

	private int bodies;

	/** Those that were there before the drain. */
	private int early;

	private boolean draining;

	private boolean closed;

	private long heldUntil;

	/**
	 * The body is longer than its lease.
	 */
	@Schedules
	void aLockIsRenewedUntilItIsReleased(Threads threads) {
		Setting setting = new Setting(threads, true);
		threads.start("a", () -> setting.call(KEY, LEASE_MILLIS));
		threads.start("b", () -> setting.call(KEY, LEASE_MILLIS / 3));
		threads.join();
		setting.checkFreeForGood(KEY);
		threads.check(setting.events.lost == 0, "a lock that is held is not told as lost");
		threads.check(setting.events.acquired == 2 && setting.events.released.size() == 2, "each call is told of once");
	}

	@Schedules
	void severalKeysAreRenewed(Threads threads) {
		Setting setting = new Setting(threads, true);
		threads.start("a", () -> setting.call(List.of("one", "two"), LEASE_MILLIS));
		threads.start("b", () -> setting.call("one", LEASE_MILLIS / 3));
		threads.start("c", () -> setting.call("two", 0));
		threads.join();
		setting.checkFreeForGood("one");
		setting.checkFreeForGood("two");
	}

	/**
	 * The store forgets the lock while it is held, or just then is not any more.
	 */
	@Schedules
	void aLossIsToldOnce(Threads threads) {
		Setting setting = new Setting(threads, false);
		threads.start("a", () -> setting.callThatMayLose(LEASE_MILLIS / 2));
		threads.start("administrator", () -> {
			threads.pause(threads.choose(2) * LEASE_MILLIS / 3);
			setting.server.drop(STORED);
		});
		threads.join();
		// The end may still be told by the thread that tells the loss
		threads.pause(SLOW_MILLIS + 1);
		boolean lost = setting.events.released.contains(LockListener.Outcome.LOST);
		threads.check(setting.events.released.size() + setting.events.notAcquired == 1,
				"the end of a call is told once");
		threads.check(setting.events.lost == (lost ? 1 : 0), "a loss is told once, and nothing else is");
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void aStoreThatDoesNotAnswerIsAskedAgain(Threads threads) {
		Setting setting = new Setting(threads, true);
		threads.start("a", () -> {
			try (LockCall call = setting.acquire(List.of(KEY), FOREVER)) {
				setting.store.failures(1);
				threads.pause(LEASE_MILLIS);
				setting.store.failures(0);
				threads.check(call.leases().get(0).isValid(), "one answer that is missing loses no lock");
			}
		});
		threads.start("b", () -> setting.call(KEY, 0));
		threads.join();
		threads.check(setting.events.lost == 0, "a lock that is held is not told as lost");
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void aMinimumHoldTimeIsKept(Threads threads) {
		Setting setting = new Setting(threads, true);
		LockSpec spec = setting.spec(FOREVER)
			.withTimes(new LockSpec.Times(FOREVER, Duration.ofMillis(LEASE_MILLIS), null,
					Duration.ofMillis(2 * LEASE_MILLIS)));
		threads.start("a", () -> {
			long start = threads.now();
			try (LockCall call = setting.engine.acquire(List.of(KEY), spec)) {
				this.heldUntil = start + 2 * LEASE_MILLIS * 1_000_000;
			}
		});
		threads.start("b", () -> {
			try (LockCall call = setting.acquire(List.of(KEY), FOREVER)) {
				threads.check(this.heldUntil <= threads.now(), "a lock is held for its minimum time");
			}
		});
		threads.join();
		threads.check(setting.events.lost == 0, "a lock that is held is not told as lost");
		threads.pause(2 * LEASE_MILLIS);
		setting.checkFreeForGood(KEY);
	}

	/**
	 * What a drain returns completes when no call is left, and not before. Those that
	 * come later try once.
	 */
	@Schedules
	void drainedWhenTheLastCallHasEnded(Threads threads) {
		Setting setting = new Setting(threads, true);
		for (String name : new String[] { "a", "b" }) {
			threads.start(name, () -> setting.callUnlessShutDown(FOREVER));
		}
		threads.start("drain", () -> {
			CompletionStage<Void> drained = setting.drain();
			drained.toCompletableFuture().join();
		});
		threads.join();
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void whoWaitsIsToldOfTheDrain(Threads threads) throws InterruptedException {
		Setting setting = new Setting(threads, true);
		LockCall call = setting.acquire(List.of(KEY), FOREVER);
		Task waiter = threads.start("waiter", () -> {
			setting.callUnlessShutDown(FOREVER);
			threads.check(!Thread.currentThread().isInterrupted(), "the interrupt of a drain is not the caller's");
		});
		CompletionStage<Void> drained = setting.engine.drain();
		waiter.join();
		threads.check(!drained.toCompletableFuture().isDone(), "a call has not ended");
		call.close();
		drained.toCompletableFuture().join();
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void aDrainIsTakenBack(Threads threads) throws InterruptedException {
		Setting setting = new Setting(threads, true);
		threads.start("a", () -> setting.callUnlessShutDown(FOREVER));
		threads.start("drain", () -> {
			CompletionStage<Void> drained = setting.engine.drain();
			setting.engine.resume();
			drained.toCompletableFuture().join();
		});
		threads.start("b", () -> setting.callUnlessShutDown(FOREVER));
		threads.join();
		setting.call(KEY, 0);
		CompletionStage<Void> drained = setting.drain();
		drained.toCompletableFuture().join();
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void nothingIsAcquiredAfterTheEnd(Threads threads) {
		Setting setting = new Setting(threads, true);
		for (String name : new String[] { "a", "b" }) {
			threads.start(name, () -> {
				boolean closed = this.closed;
				try (LockCall call = setting.acquire(List.of(KEY), FOREVER)) {
					threads.check(!closed, "nothing is acquired after the end");
				}
				catch (LockNotAcquiredException ex) {
					threads.check(ex.reason() == LockNotAcquiredException.Reason.SHUTDOWN,
							"the reason is the shutdown");
				}
			});
		}
		threads.start("close", () -> {
			setting.engine.close();
			this.closed = true;
		});
		threads.join();
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void whoIsInterruptedOrToldToStopHasNothing(Threads threads) {
		Setting setting = new Setting(threads, true);
		threads.start("a", () -> setting.callUnlessShutDown(FOREVER));
		Task waiter = threads.start("waiter", () -> {
			try {
				setting.call(KEY, 0);
			}
			catch (LockNotAcquiredException ex) {
				threads.check(ex.reason() != LockNotAcquiredException.Reason.BUSY,
						"the reason is the interrupt or the shutdown");
				threads.check(ex.reason() == LockNotAcquiredException.Reason.SHUTDOWN
						|| Thread.currentThread().isInterrupted(), "an interrupt is the caller's");
			}
		});
		threads.start("interrupter", waiter::interrupt);
		threads.start("drain", () -> setting.drain().toCompletableFuture().join());
		threads.join();
		setting.checkFreeForGood(KEY);
	}

	@Schedules
	void locksOfThisJvmAreHandedOn(Threads threads) {
		LocalLockBackend backend = new LocalLockBackend();
		LockEngine engine = new LockEngine(() -> backend, (name) -> null, List::of);
		for (String name : new String[] { "a", "b", "c" }) {
			threads.start(name, () -> {
				LockSpec spec = LockSpec.DEFAULT
					.withTimes(new LockSpec.Times(FOREVER, Duration.ofMillis(LEASE_MILLIS), null, null))
					.withFair(threads.choose(2) == 0);
				try (LockCall call = engine.acquire(List.of(KEY), spec)) {
					threads.check(++this.bodies == 1, "one holder at a time");
					threads.point();
					this.bodies--;
				}
			});
		}
		threads.join();
		engine.drain().toCompletableFuture().join();
	}

	private final class Setting {

		private final Threads threads;

		private final Server server;

		private final ModelStore store;

		private final Events events;

		private final LockEngine engine;

		private Setting(Threads threads, boolean queue) {
			this.threads = threads;
			this.events = new Events(threads);
			threads.slowBy(SLOW_MILLIS);
			this.server = new Server(threads);
			this.store = new ModelStore(threads, this.server, threads.choose(2) == 0);
			LockBackend backend = queue
					? new HandoverLockBackend(this.store, HandoverLimits.DEFAULT, QueueLimits.DEFAULT) : this.store;
			this.engine = new LockEngine(() -> backend, (name) -> null, () -> List.of(this.events));
		}

		private LockSpec spec(Duration waitTime) {
			return LockSpec.DEFAULT
				.withTimes(new LockSpec.Times(waitTime, Duration.ofMillis(LEASE_MILLIS), null, null));
		}

		private LockCall acquire(List<String> keys, Duration waitTime) {
			return this.engine.acquire(keys, spec(waitTime));
		}

		private void call(String key, long millis) {
			call(List.of(key), millis);
		}

		/**
		 * A call that does not lose its lock, as nothing but the schedule stops its
		 * renewals.
		 */
		private void call(List<String> keys, long millis) {
			try (LockCall call = acquire(keys, FOREVER)) {
				if (millis > 0) {
					this.threads.pause(millis);
				}
			}
		}

		private void callThatMayLose(long millis) {
			try {
				call(KEY, millis);
			}
			catch (LockOverlapException | LockBackendException ex) {
				// It was lost
			}
		}

		private void callUnlessShutDown(Duration waitTime) {
			try (LockCall call = acquire(List.of(KEY), waitTime)) {
				boolean early = !HeldSchedules.this.draining;
				HeldSchedules.this.early += early ? 1 : 0;
				this.threads.check(++HeldSchedules.this.bodies == 1, "one holder at a time");
				this.threads.point();
				HeldSchedules.this.bodies--;
				HeldSchedules.this.early -= early ? 1 : 0;
			}
			catch (LockNotAcquiredException ex) {
				this.threads.check(ex.reason() == LockNotAcquiredException.Reason.SHUTDOWN,
						"the reason is the shutdown");
			}
		}

		private CompletionStage<Void> drain() {
			HeldSchedules.this.draining = true;
			CompletionStage<Void> drained = this.engine.drain();
			drained.thenRun(() -> this.threads.check(HeldSchedules.this.early == 0, "drained when no call is left"));
			return drained;
		}

		/**
		 * Not only now: no renewal comes too late, and nothing runs out.
		 */
		private void checkFreeForGood(String key) {
			this.threads.check(this.server.isFree("lock:" + key), "no lock is left");
			this.threads.pause(LEASE_MILLIS);
			int requests = this.server.requests();
			this.threads.pause(3 * LEASE_MILLIS);
			this.threads.check(this.server.requests() == requests, "no renewal is left");
		}

	}

	private static final class Events implements LockListener {

		private final Threads threads;

		private int attempted;

		private int acquired;

		private int notAcquired;

		private int lost;

		private final List<Outcome> released = new ArrayList<>();

		private Events(Threads threads) {
			this.threads = threads;
		}

		@Override
		public void attempted(Call call) {
			this.attempted++;
		}

		@Override
		public void acquired(Call call, Duration waitTime) {
			this.acquired++;
			check();
		}

		@Override
		public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
			this.notAcquired++;
			check();
		}

		@Override
		public void lost(Call call, String key, Duration holdTime) {
			this.lost++;
			this.threads.check(this.acquired > this.released.size(), "a lock is lost while it is held");
			this.threads.check(holdTime.compareTo(Duration.ofHours(1)) < 0, "a lock is lost after it was acquired");
		}

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			this.released.add(outcome);
			check();
		}

		private void check() {
			this.threads.check(
					this.acquired + this.notAcquired <= this.attempted && this.released.size() <= this.acquired,
					"each call is told of in order");
		}

	}

}
