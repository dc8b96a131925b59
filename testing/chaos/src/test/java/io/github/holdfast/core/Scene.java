package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A few threads that use the core, and what must hold whichever of them goes on at each
 * moment. Time is that of {@link Schedules}: it passes when all threads wait.
 */
enum Scene {

	/**
	 * A turn is kept by one thread, and is there for the next if others give up. It ends
	 * once, although the watchdog may end it at the same time.
	 */
	TURNS {
		@Override
		void play(Random random) throws Exception {
			LocalQueue queue = new LocalQueue();
			AtomicInteger visitors = new AtomicInteger();
			Actor first = new Actor(() -> visit(queue, Application.LONG, visitors, true));
			Actor second = new Actor(() -> visit(queue, Application.LONG, visitors, false));
			Duration wait = sometime(random);
			Actor third = new Actor(() -> visit(queue, wait, visitors, false));
			Actor last = new Actor(() -> visit(queue, Application.LONG, visitors, false));
			second.interrupt(random);
			first.expect("held");
			second.expect("held", "INTERRUPTED");
			third.expect("held", "BUSY");
			last.expect("held");
			check(visit(queue, Duration.ZERO, visitors, false).equals("held"), "a turn is lost");
			check(Application.isEmpty(queue), "a place is left");
		}

		private String visit(LocalQueue queue, Duration wait, AtomicInteger visitors, boolean watched) {
			try {
				LocalQueue.Turn turn = queue.enter(Application.KEY, wait.toNanos());
				if (turn == null) {
					return "BUSY";
				}
				check(visitors.incrementAndGet() == 1, "two turns for one key");
				visitors.decrementAndGet();
				if (watched) {
					Thread watchdog = new Thread(turn::exit);
					watchdog.start();
					turn.exit();
					watchdog.join();
				}
				turn.exit();
				return "held";
			}
			catch (InterruptedException ex) {
				return "INTERRUPTED";
			}
		}
	},

	/** A grant that is left for a thread is taken or given back, even if it gives up. */
	HAND_OVER {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(false), HANDOVER);
			Actor first = new Actor(() -> application.call(Application.LONG));
			Actor second = new Actor(() -> application.call(Application.LONG));
			second.interrupt(random);
			first.expect("held");
			second.expect("held", "INTERRUPTED");
			application.end();
		}
	},

	/** As before, but with others behind, and time-outs. */
	HAND_OVER_OF_THREE {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(true), sometime(random));
			Duration wait = sometime(random);
			Actor first = new Actor(() -> application.call(Application.LONG));
			Actor second = new Actor(() -> application.call(wait));
			Actor third = new Actor(() -> application.call(Application.LONG));
			first.expect("held");
			second.expect("held", "BUSY");
			third.expect("held");
			application.end();
		}
	},

	/** Leases are renewed as long as their body runs, and not any more after it. */
	RENEWED {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(true), Duration.ZERO);
			Actor first = new Actor(() -> application.call(Application.LONG));
			first.expect("held");
			sleep(BEFORE_RENEWAL.plus(sometime(random)));
			Actor second = new Actor(() -> application.call(Application.LONG, () -> sleep(LONG_BODY)));
			second.expect("held");
			sleep(LONG_BODY);
			application.end();
		}
	},

	/** If the lease is over, the next thread may ask the store although the body runs. */
	RUN_OUT {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(true).renewalsFail(), HANDOVER);
			CountDownLatch next = new CountDownLatch(1);
			Actor first = new Actor(() -> application.call(Application.LONG, () -> await(next)));
			application.awaitBody();
			Actor second = new Actor(() -> application.call(Application.LONG, next::countDown));
			Actor third = new Actor(() -> application.call(Application.LONG));
			first.expect("lost");
			second.expect("held");
			third.expect("held");
			application.end();
		}
	},

	/** A release that failed is repeated. */
	RELEASE_FAILS {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(true).oneReleaseFails(), Duration.ZERO);
			Actor first = new Actor(() -> application.call(HALF_LEASE));
			Actor second = new Actor(() -> application.call(HALF_LEASE));
			first.expect("held");
			second.expect("held");
			application.end();
		}
	},

	/** A lock is kept for its minimum hold time, and is there for the next then. */
	MIN_HOLD {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(true), HANDOVER);
			Duration minHold = Duration.ofSeconds(5);
			long begin = System.nanoTime();
			Actor first = new Actor(() -> application.call(Application.LONG, minHold, NOTHING));
			first.expect("held");
			Actor second = new Actor(() -> application.call(HALF_LEASE,
					() -> application.store.check(System.nanoTime() - begin > minHold.toNanos(), "not kept")));
			second.expect("held");
			// The store may let the second one in by time
			application.store.awaitReleases(2);
			application.end();
		}
	},

	/** Even a single attempt waits for a release that has begun. */
	SINGLE_ATTEMPT {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(false).answersLate(), Duration.ZERO);
			Actor first = new Actor(() -> application.call(Application.LONG));
			application.store.awaitReleases(1);
			Actor second = new Actor(() -> application.call(Duration.ZERO));
			first.expect("held");
			second.expect("held");
			application.end();
		}
	},

	/** No renewal is under way while a transaction takes the row. */
	CLAIM {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(true).answersLate(), Duration.ZERO);
			Actor first = new Actor(() -> {
				try (LockCall call = application.manager.acquire(List.of(Application.KEY),
						Application.settings(Application.LONG, null))) {
					Grant grant = call.grants().get(0);
					sleep(BEFORE_RENEWAL.plus(sometime(random)));
					grant.beginClaim();
					application.store.claim(true);
					sleep(sometime(random));
					application.store.claim(false);
					grant.endClaim();
				}
				return "held";
			});
			first.expect("held");
			application.end();
		}
	},

	/** A shutdown ends all waits, those that begin at the same time, too, and no body. */
	DRAIN {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(false).answersLate(), Duration.ZERO);
			CountDownLatch next = new CountDownLatch(1);
			Actor first = new Actor(() -> application.call(Application.LONG, () -> await(next)));
			application.awaitBody();
			Actor second = new Actor(() -> {
				String end = application.call(Application.LONG);
				next.countDown();
				return end;
			});
			sleep(sometime(random));
			application.manager.drain();
			while (!application.manager.isIdle()) {
				sleep(SHORT);
			}
			check(!application.store.isHeld(Application.KEY), "a drain did not wait for the last call");
			first.expect("held");
			second.expect("SHUTDOWN");
			application.manager.close();
			application.store.end();
		}
	},

	/** A shutdown leaves no trace in a thread, whether it gets its lock or not. */
	DRAIN_QUIETLY {
		@Override
		void play(Random random) throws Exception {
			Application application = new Application(new MemoryBackend(false), HANDOVER);
			Supplier<String> call = () -> {
				String end = application.call(Application.LONG);
				application.store.check(!Thread.interrupted(), "a shutdown left an interrupt");
				return end;
			};
			Actor first = new Actor(call);
			Actor second = new Actor(call);
			sleep(sometime(random));
			application.manager.drain();
			first.expect("held", "SHUTDOWN");
			second.expect("held", "SHUTDOWN");
			application.manager.close();
			application.store.end();
		}
	};

	static final Step NOTHING = () -> {
	};

	private static final Duration SHORT = Duration.ofMillis(1);

	private static final Duration HANDOVER = Duration.ofMillis(25);

	private static final Duration HALF_LEASE = Duration.ofSeconds(15);

	private static final Duration BEFORE_RENEWAL = Duration.ofMillis(9_998);

	private static final Duration LONG_BODY = Duration.ofSeconds(100);

	abstract void play(Random random) throws Exception;

	/**
	 * Up to 3 ms: so long that about 300 steps are taken.
	 */
	private static Duration sometime(Random random) {
		return Duration.ofNanos(random.nextInt(3_000_000));
	}

	static void sleep(Duration time) {
		run(() -> TimeUnit.NANOSECONDS.sleep(time.toNanos()));
	}

	private static void await(CountDownLatch latch) throws InterruptedException {
		check(latch.await(LONG_BODY.toMillis(), TimeUnit.MILLISECONDS), "nobody came");
	}

	static void run(Step step) {
		try {
			step.run();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void check(boolean promise, String otherwise) {
		if (!promise) {
			throw new AssertionError(otherwise);
		}
	}

	/**
	 * What a body does.
	 */
	interface Step {

		void run() throws InterruptedException;

	}

	/**
	 * A thread with a call.
	 */
	private static final class Actor {

		private final Thread thread;

		private volatile String end = "nothing";

		private Actor(Supplier<String> call) {
			this.thread = new Thread(() -> this.end = call.get());
			this.thread.start();
		}

		void interrupt(Random random) {
			sleep(sometime(random));
			this.thread.interrupt();
		}

		void expect(String... ends) throws InterruptedException {
			this.thread.join();
			check(List.of(ends).contains(this.end), "a call ended with " + this.end);
		}

	}

}
