package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

import io.github.holdfast.schedules.Action;
import io.github.holdfast.schedules.Schedules;
import io.github.holdfast.schedules.Task;
import io.github.holdfast.schedules.Threads;

/**
 * The permit of one key and the threads that want it. Nobody sleeps while it is free, and
 * at the end it is.
 */
public class KeyedPermitsSchedules {

	private static final String KEY = "key";

	/** A thread that waits for it to pass hangs. */
	private static final Duration FOREVER = Duration.ofDays(1);

	private final KeyedPermits<Integer> permits = new KeyedPermits<>();

	private int holders;

	private int grants;

	private int given;

	@Schedules(preemptions = 2)
	void oneHolderAtATimeAndNoneWaitsForEver(Threads threads) {
		threads.start("a", () -> use(threads, false));
		threads.start("b", () -> use(threads, false));
		threads.start("c", () -> use(threads, false));
		end(threads);
	}

	@Schedules
	void oneHolderAtATimeOverSeveralRounds(Threads threads) {
		for (String name : new String[] { "a", "b", "c" }) {
			threads.start(name, () -> {
				use(threads, threads.choose(4) == 0);
				use(threads, false);
			});
		}
		end(threads);
	}

	@Schedules(preemptions = 2)
	void aWaiterThatIsInterruptedLosesNothing(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		Task waiter = threads.start("waiter", () -> take(threads, FOREVER));
		threads.start("interrupter", waiter::interrupt);
		threads.start("other", () -> use(threads, false));
		release(threads, first);
		end(threads);
	}

	@Schedules(preemptions = 2)
	void aWaiterWhoseTimeIsOverLosesNothing(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		threads.start("waiter", () -> take(threads, Duration.ofMillis(1)));
		threads.start("other", () -> use(threads, false));
		release(threads, first);
		end(threads);
	}

	/**
	 * Who is in the queue before others ask is served before them. The first one only as
	 * long as another one waits who wants that.
	 */
	@Schedules
	void theStrictOrderIsThatOfTheArrival(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, true);
		boolean fair = threads.choose(2) == 0;
		Task one = threads.start("one", () -> inTurn(threads, 1, fair));
		threads.await(one::isParked);
		Task two = threads.start("two", () -> inTurn(threads, 2, true));
		threads.await(two::isParked);
		threads.start("barger", () -> inTurn(threads, 3, false));
		release(threads, first);
		end(threads);
	}

	private void inTurn(Threads threads, int turn, boolean fair) throws InterruptedException {
		KeyedPermits<Integer>.Permit permit = acquire(threads, FOREVER, fair);
		threads.check(++this.grants == turn, "the order of arrival");
		release(threads, permit);
	}

	/**
	 * Several threads ask again and again, and one is in the queue.
	 */
	@Schedules(preemptions = 0)
	void othersBargeInOnlySoOften(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		Task sleeper = threads.start("sleeper", () -> {
			KeyedPermits<Integer>.Permit permit = acquire(threads, FOREVER, false);
			this.grants = Integer.MIN_VALUE;
			release(threads, permit);
		});
		threads.await(sleeper::isParked);
		for (String name : new String[] { "x", "y" }) {
			threads.start(name, () -> {
				for (int i = 0; i < Barging.MOST; i++) {
					KeyedPermits<Integer>.Permit permit = acquire(threads, FOREVER, false);
					threads.check(++this.grants <= Barging.MOST, "only so many barge in before one who waits");
					release(threads, permit);
				}
			});
		}
		release(threads, first);
		end(threads);
	}

	/**
	 * The holder is slow, so that its permit runs out, and gives it back all the same.
	 */
	@Schedules(preemptions = 2)
	void whatHasRunOutIsTakenOverOnce(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		this.holders--;
		Deadline end = Deadline.after(Duration.ofMillis(5));
		first.expireAfter(end::remaining);
		threads.start("a", () -> afterExpiry(threads, first, end));
		threads.start("b", () -> afterExpiry(threads, first, end));
		if (threads.choose(2) == 0) {
			threads.pause(5);
		}
		boolean released = (threads.choose(2) == 0) ? first.release() : first.handOver(() -> 1) || first.release();
		threads.check(released || end.hasPassed(), "a permit that has not run out is its holder's");
		threads.check(!first.isHeld(), "what was released is not held");
		end(threads);
	}

	private void afterExpiry(Threads threads, KeyedPermits<Integer>.Permit first, Deadline end)
			throws InterruptedException {
		KeyedPermits<Integer>.Permit permit = acquire(threads, FOREVER, false);
		threads.check(!first.isHeld(), "one holder at a time");
		release(threads, permit);
	}

	/**
	 * What is left for the next one reaches one of them, once, whatever becomes of those
	 * who wait.
	 */
	@Schedules(preemptions = 2)
	void whatIsHandedOverReachesOneOfThoseWhoWait(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		Task waiter = threads.start("waiter", () -> take(threads, Duration.ofMillis(1)));
		threads.start("interrupter", waiter::interrupt);
		threads.start("barger", () -> take(threads, FOREVER));
		boolean handedOver = first.handOver(() -> {
			this.holders--;
			return ++this.given;
		});
		if (!handedOver) {
			threads.check(this.given == 0, "nothing is left for nobody");
			release(threads, first);
		}
		else {
			threads.check(!first.release(), "what was handed over is not the holder's any more");
		}
		end(threads);
		threads.check(this.given == 0, "what was left has reached somebody");
	}

	private void take(Threads threads, Duration waitTime) {
		try {
			KeyedPermits<Integer>.Permit permit = acquire(threads, waitTime, false);
			if (permit != null) {
				if (permit.brought() != null) {
					threads.check(--this.given == 0, "what was left reaches one");
				}
				release(threads, permit);
			}
		}
		catch (InterruptedException ex) {
			// It has nothing
		}
	}

	@Schedules(preemptions = 2)
	void aSingleAttemptWaitsForAReleaseUnderWay(Threads threads) throws InterruptedException {
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		first.releasesSoon();
		Task one = threads.start("one", () -> take(threads, Duration.ZERO));
		threads.start("two", () -> take(threads, Duration.ZERO));
		threads.start("interrupter", one::interrupt);
		if (threads.choose(2) == 0) {
			threads.pause(1);
		}
		release(threads, first);
		end(threads);
	}

	@Schedules
	void noMoreWaitThanMay(Threads threads) throws InterruptedException {
		QueueLimits limits = new QueueLimits(1, 10);
		KeyedPermits<Integer>.Permit first = acquire(threads, FOREVER, false);
		Action action = () -> {
			try {
				KeyedPermits<Integer>.Permit permit = this.permits.acquire(KEY, FOREVER, true, limits);
				threads.check(permit != null, "who waits long enough gets the permit");
				permit.expireNever();
				threads.check(++this.holders == 1, "one holder at a time");
				release(threads, permit);
			}
			catch (RejectedExecutionException ex) {
				// One waits already
			}
		};
		Task a = threads.start("a", action);
		Task b = threads.start("b", action);
		threads.await(() -> (a.isParked() || a.isFinished()) && (b.isParked() || b.isFinished()));
		threads.check(a.isFinished() || b.isFinished(), "no more wait than may");
		release(threads, first);
		end(threads);
	}

	private void use(Threads threads, boolean fair) throws InterruptedException {
		release(threads, acquire(threads, FOREVER, fair));
	}

	private KeyedPermits<Integer>.Permit acquire(Threads threads, Duration waitTime, boolean fair)
			throws InterruptedException {
		KeyedPermits<Integer>.Permit permit = this.permits.acquire(KEY, waitTime, fair, QueueLimits.DEFAULT);
		if (permit != null) {
			permit.expireNever();
			threads.check(++this.holders == 1, "one holder at a time");
			threads.check(permit.isHeld(), "what was granted is held");
		}
		else {
			threads.check(!waitTime.equals(FOREVER), "who waits long enough gets the permit");
		}
		return permit;
	}

	private void release(Threads threads, KeyedPermits<Integer>.Permit permit) {
		threads.point();
		this.holders--;
		threads.check(permit.release(), "a permit is its holder's until it is released");
		threads.check(!permit.isHeld(), "what was released is not held");
		threads.check(!permit.release(), "a permit is released once");
	}

	private void end(Threads threads) {
		threads.join();
		threads.check(this.permits.size() == 0, "no permit is left");
		threads.check(this.permits.failure(KEY) == null, "no failure is left");
	}

}
