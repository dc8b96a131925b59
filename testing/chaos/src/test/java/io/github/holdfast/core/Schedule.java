package io.github.holdfast.core;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockNotAcquiredException;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;

/**
 * A few threads that use the core, and what must hold whichever of them goes on at each
 * moment. A thread that waits for ever is found, too. Run in a process of its own, see
 * {@link ScheduledCore}.
 */
enum Schedule implements Runnable {

	/** A turn is kept by one thread, and is there for the next if others give up. */
	TURNS {
		@Override
		void play() {
			LocalQueue queue = new LocalQueue();
			Thread first = start(() -> visit(queue, WAIT, () -> World.await(() -> World.queued() == 2)));
			World.await(() -> World.visits() == 1);
			Thread second = start(() -> visit(queue, WAIT, NOTHING));
			Thread third = start(() -> visit(queue, WAIT, NOTHING));
			World.await(() -> World.queued() == 2);
			World.interrupt(second);
			World.advance(WAIT.toNanos());
			join(first, second, third);
			join(start(() -> World.check(visit(queue, Duration.ZERO, NOTHING), "a turn is lost")));
			World.check(isEmpty(queue), "a place is left");
		}
	},

	/** A grant that is left for a thread is taken or given back, even if it gives up. */
	HAND_OVER {
		@Override
		void play() {
			Application application = new Application(false, Duration.ofMillis(25));
			Thread first = start(() -> application.call(LONG, () -> World.await(() -> World.queued() == 1), KEY));
			World.await(() -> World.bodies() == 1);
			Thread second = start(() -> application.call(WAIT));
			World.await(() -> World.queued() == 1);
			World.interrupt(second);
			join(first, second);
			application.end();
		}
	},

	/** As before, but others are behind those that give up. */
	HAND_OVER_OF_THREE {
		@Override
		void play() {
			Application application = new Application(false, Duration.ofMillis(25));
			Thread first = start(() -> application.call(LONG, () -> World.await(() -> World.queued() == 2), KEY));
			World.await(() -> World.bodies() == 1);
			Thread second = start(() -> application.call(WAIT));
			Thread third = start(() -> application.call(LONG));
			World.await(() -> World.queued() == 2);
			World.advance(WAIT.toNanos());
			join(first, second, third);
			application.end();
		}
	},

	/** Who gets one of two keys only gives it back. */
	ALL_OR_NONE {
		@Override
		void play() {
			Application application = new Application(false, Duration.ofMillis(25));
			MemoryBackend store = application.store;
			store.takeAway("b", LONG);
			Thread first = start(() -> application.call(WAIT, "a", "b"));
			World.await(() -> store.granted() == 2);
			Thread second = start(() -> application.call(LONG, "a"));
			World.await(() -> World.queued() == 1);
			World.interrupt(first);
			World.advance(WAIT.toNanos());
			store.giveBack("b");
			Thread third = start(() -> application.call(LONG, "b"));
			join(first, second, third);
			application.end();
		}
	},

	/** Nobody waits in a circle. */
	TWO_KEYS {
		@Override
		void play() {
			Application application = new Application(false, Duration.ofMillis(25));
			Thread first = start(() -> application.call(LONG, "a", "b"));
			Thread second = start(() -> application.call(LONG, "b", "a"));
			join(first, second);
			application.end();
		}
	},

	/** Leases are renewed as long as their body runs, and not any more after it. */
	RENEWED {
		@Override
		void play() {
			Application application = new Application(true, Duration.ZERO);
			MemoryBackend store = application.store;
			Thread first = start(() -> application.call(LONG, () -> World.await(() -> store.renewed() >= 3), KEY));
			World.await(() -> World.bodies() == 1);
			renew(store, 3);
			World.advance(LEASE.toNanos() / 3);
			join(first);
			int before = store.renewed();
			Thread second = start(
					() -> application.call(LONG, () -> World.await(() -> store.renewed() >= before + 2), KEY));
			World.await(() -> World.bodies() == 1);
			renew(store, 2);
			join(second);
			World.check(application.ended("held") == 2, "a lease was lost");
			application.end();
		}

		private void renew(MemoryBackend store, int times) {
			for (int i = 0; i < times; i++) {
				int renewed = store.renewed();
				World.advance(LEASE.toNanos() / 3);
				World.await(() -> store.renewed() > renewed);
			}
		}
	},

	/** If another node has taken the key, the next thread may ask the store at once. */
	LOST {
		@Override
		void play() {
			Application application = new Application(true, Duration.ofMillis(25));
			MemoryBackend store = application.store;
			Thread first = start(() -> application.call(LONG, () -> World.await(() -> store.granted() == 3), KEY));
			World.await(() -> World.bodies() == 1);
			store.takeAway(KEY, Duration.ofSeconds(1));
			Thread second = start(() -> application.call(LONG));
			World.advance(LEASE.toNanos() / 3);
			join(first, second);
			World.check(application.ended("lost") == 1 && application.ended("held") == 1, "a loss is not told");
			application.end();
		}
	},

	/** If the lease is over, the next thread may ask the store although the body runs. */
	RUN_OUT {
		@Override
		void play() {
			Application application = new Application(true, Duration.ofMillis(25));
			MemoryBackend store = application.store;
			store.failRenewals();
			Thread first = start(() -> application.call(LONG, () -> World.await(() -> store.granted() == 2), KEY));
			World.await(() -> World.bodies() == 1);
			Thread second = start(() -> application.call(LONG));
			World.advance(LEASE.toNanos() / 3);
			World.advance(LEASE.toNanos());
			join(first, second);
			World.check(application.ended("lost") == 1 && application.ended("held") == 1, "a loss is not told");
			application.end();
		}
	},

	/** A release that failed is repeated. */
	RELEASE_FAILS {
		@Override
		void play() {
			Application application = new Application(true, Duration.ZERO);
			application.store.failReleases(1);
			Thread first = start(() -> application.call(LONG));
			Thread second = start(() -> application.call(LONG));
			World.await(() -> application.ended("held") > 0);
			World.advance(Watchdog.RELEASE_AGAIN);
			join(first, second);
			application.end();
		}
	},

	/**
	 * A lock is kept for its minimum hold time, and is there for the next thread then.
	 */
	MIN_HOLD {
		@Override
		void play() {
			Application application = new Application(true, Duration.ofMillis(25));
			application.minHoldTime = Duration.ofSeconds(5);
			Thread first = start(() -> application.call(LONG));
			Thread second = start(() -> application.call(LONG));
			World.await(() -> application.ended("held") == 1);
			World.check(World.bodies() == 0, "the minimum hold time was not kept");
			World.advance(Duration.ofSeconds(6).toNanos());
			join(first, second);
			World.check(application.ended("held") == 2, "a lock is not there for the next");
			World.advance(Duration.ofSeconds(6).toNanos());
			application.minHoldTime = null;
			application.end();
		}
	},

	/** Even a single attempt waits for a release that has begun. */
	SINGLE_ATTEMPT {
		@Override
		void play() {
			Application application = new Application(false, Duration.ZERO);
			MemoryBackend store = application.store;
			store.answerLate();
			Thread first = start(() -> application.call(LONG));
			World.await(store::isAsked);
			Thread second = start(() -> application.call(Duration.ZERO));
			store.answer();
			join(first);
			World.await(() -> store.isAsked() || application.ended("BUSY") > 0);
			store.answer();
			join(second);
			World.check(application.ended("held") == 2, "a single attempt met a release");
			Thread last = start(() -> application.call(LONG));
			World.await(store::isAsked);
			store.answer();
			join(last);
		}
	},

	/** No renewal is under way while a transaction takes the row. */
	CLAIM {
		@Override
		void play() {
			Application application = new Application(true, Duration.ZERO);
			MemoryBackend store = application.store;
			store.answerLate();
			Thread first = start(() -> {
				LockCall call = application.manager.acquire(List.of(KEY), application.settings(LONG));
				Grant grant = call.grants().get(0);
				World.enter(call);
				grant.beginClaim();
				store.claim(true);
				World.leave(call);
				store.claim(false);
				grant.endClaim();
				application.ended("held", false);
			});
			World.await(() -> store.granted() == 1);
			World.advance(LEASE.toNanos() / 3);
			World.await(() -> store.isAsked() || application.ended("held") == 1);
			store.answer();
			join(first);
			application.manager.close();
		}
	},

	/** A shutdown ends all waits, those that begin at the same time, too, and no body. */
	DRAIN {
		@Override
		void play() {
			Application application = new Application(false, Duration.ofMillis(25));
			Thread first = start(
					() -> application.call(LONG, () -> World.await(() -> application.ended("SHUTDOWN") == 1), KEY));
			World.await(() -> World.bodies() == 1);
			Thread second = start(() -> application.call(LONG));
			application.manager.drain();
			join(first, second);
			World.check(application.ended("held") == 1, "a shutdown ended a body");
			application.end();
		}
	};

	private static final Runnable NOTHING = () -> {
	};

	private static final int ATTEMPTS = 5;

	private static final String KEY = "a";

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration WAIT = Duration.ofMillis(10);

	private static final Duration LONG = Duration.ofHours(1);

	abstract void play();

	@Override
	public void run() {
		World.begin();
		play();
		World.end();
	}

	/**
	 * Plays some schedules, or all.
	 * @param args how many of each, and their names
	 */
	public static void main(String[] args) {
		List<Schedule> schedules = (args.length == 1) ? List.of(values())
				: Stream.of(args).skip(1).map(Schedule::valueOf).toList();
		for (Schedule schedule : schedules) {
			long start = System.nanoTime();
			String result = result(schedule, Integer.parseInt(args[0]));
			System.out.println(schedule + " " + (System.nanoTime() - start) / 1_000_000 + " ms " + result);
		}
		System.exit(0);
	}

	/**
	 * A machine that is too slow, mostly for the first time, is no deadlock: those have
	 * their steps in the message.
	 */
	private static String result(Schedule schedule, int times) {
		String result = "";
		for (int i = 0; i < ATTEMPTS && !result.contains("interleaving"); i++) {
			try {
				Lincheck.runConcurrentTest(times, schedule);
				return "kept";
			}
			catch (Throwable ex) {
				result = "BROKEN " + ex;
			}
		}
		return result;
	}

	private static Thread start(Runnable task) {
		Thread thread = new Thread(task);
		thread.start();
		return thread;
	}

	private static void join(Thread... threads) {
		try {
			for (Thread thread : threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static boolean visit(LocalQueue queue, Duration wait, Runnable body) {
		try {
			LocalQueue.Turn turn = queue.enter(KEY, wait.toNanos());
			if (turn != null) {
				World.visit();
				body.run();
				turn.exit();
			}
			return turn != null;
		}
		catch (InterruptedException ex) {
			return false;
		}
	}

	private static boolean isEmpty(LocalQueue queue) {
		return ((ConcurrentHashMap<?, ?>) field(LocalQueue.class, "places", queue)).isEmpty();
	}

	private static Object field(Class<?> type, String name, Object object) {
		try {
			Field field = type.getDeclaredField(name);
			field.setAccessible(true);
			return field.get(object);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A manager, its store, and how its calls have ended.
	 */
	private static final class Application {

		private final MemoryBackend store;

		private final LockManager manager;

		private final List<String> ends = new ArrayList<>();

		private @Nullable Duration minHoldTime;

		private Application(boolean expires, Duration handover) {
			this.store = new MemoryBackend(expires);
			this.manager = new LockManager(() -> this.store, () -> LockGuard.NONE, List::of, (name) -> null, handover);
		}

		private String call(Duration wait, String... keys) {
			return call(wait, NOTHING, (keys.length == 0) ? new String[] { KEY } : keys);
		}

		private String call(Duration wait, Runnable body, String... keys) {
			String end = "held";
			try (LockCall call = this.manager.acquire(List.of(keys), settings(wait))) {
				World.enter(call);
				body.run();
				World.leave(call);
			}
			catch (LockLostAfterWorkException ex) {
				end = "lost";
			}
			catch (LockNotAcquiredException ex) {
				end = ex.reason().name();
			}
			ended(end, World.interrupted());
			return end;
		}

		private LockSettings settings(Duration wait) {
			return LockSettings.DEFAULT.withKeyPrefix("")
				.withTimes(new LockSettings.Times(wait, LEASE, null, this.minHoldTime));
		}

		private void ended(String end, boolean interrupted) {
			synchronized (World.class) {
				this.ends.add(end);
				World.check(!interrupted || !end.equals("SHUTDOWN"), "a shutdown left an interrupt");
				World.class.notifyAll();
			}
		}

		private int ended(String end) {
			synchronized (World.class) {
				return Collections.frequency(this.ends, end);
			}
		}

		/**
		 * After all, the key is free and nothing is left.
		 */
		private void end() {
			join(start(() -> World.check(call(LONG).equals("held"), "a key is lost")));
			World.check(this.manager.isIdle(), "a call is left");
			World.check(isEmpty((LocalQueue) field(LockManager.class, "queue", this.manager)), "a place is left");
			World.check(!this.store.isHeld(KEY), "a lease is left");
			this.manager.close();
		}

	}

}
