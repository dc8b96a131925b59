package io.github.holdfast.schedules;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A test under one schedule. One thread goes on at a time, until it comes to a point at
 * which the schedule lets another one go on. Time passes when all threads wait, or when
 * the schedule lets it pass.
 */
final class Run {

	private static final int MOST_STEPS = 30_000;

	/** A thread that has had its turn for so long may wait in a loop for another one. */
	private static final int LONGEST_TURN = 500;

	private static final int SECONDS = 60;

	/** What is later than that does not happen: a thread that waits for it hangs. */
	private static final long LONGEST_WAIT = TimeUnit.HOURS.toNanos(1);

	/** Later than what a class may have noted when it was initialized. */
	private static final long START = TimeUnit.DAYS.toNanos(10);

	private final Schedule schedule;

	private final @Nullable List<String> trace;

	private final Task clock = new Task(this, "clock", true, () -> {
	});

	private final List<Task> tasks = new ArrayList<>();

	private final List<Task> options = new ArrayList<>();

	private final Map<Object, Monitor> monitors = new IdentityHashMap<>();

	private final List<Runnable> idleChecks = new ArrayList<>();

	private final CountDownLatch end = new CountDownLatch(1);

	private volatile Task current = this.clock;

	private volatile boolean over;

	private volatile @Nullable Throwable failure;

	/** While the next thread is looked for, or all see one moment, nothing has points. */
	private boolean quiet;

	private long now = START;

	/** For how long, in all, time may still pass while threads can go on. */
	private long slowness = Task.NEVER;

	private int steps;

	private int turn;

	/**
	 * Create a run.
	 * @param schedule decides whose turn it is
	 * @param trace takes notes of the turns, or {@code null}
	 */
	Run(Schedule schedule, @Nullable List<String> trace) {
		this.schedule = schedule;
		this.trace = trace;
	}

	/**
	 * Run a test to its end.
	 * @return the first failure, or {@code null}
	 */
	@Nullable Throwable execute(Action test) throws InterruptedException {
		Task main = add("main", false, test);
		this.current = main;
		LockSupport.unpark(main.thread);
		boolean ended = this.end.await(SECONDS, TimeUnit.SECONDS);
		this.over = true;
		if (!ended) {
			return new AssertionError("A thread waits for something that the schedule does not know" + whereTasksAre());
		}
		for (Task task : List.copyOf(this.tasks)) {
			this.current = task;
			LockSupport.unpark(task.thread);
			if (!task.ended.await(SECONDS, TimeUnit.SECONDS)) {
				return new AssertionError("Thread " + task + " does not end" + whereTasksAre());
			}
		}
		return this.failure;
	}

	int steps() {
		return this.steps;
	}

	Task current() {
		return this.current;
	}

	long now() {
		return this.now;
	}

	boolean isOver() {
		return this.over;
	}

	Task add(String name, boolean daemon, Action action) {
		Task task = new Task(this, name, daemon, action);
		this.tasks.add(task);
		Worker.carry(task);
		return task;
	}

	/**
	 * Called by the thread of a task.
	 */
	void carry(Task task) {
		try {
			task.await();
			task.action.run();
			if (task.locks != 0) {
				throw new AssertionError("Thread " + task + " has ended with a lock");
			}
		}
		catch (Abort ex) {
			// The run is over
		}
		catch (Throwable ex) {
			note(ex);
		}
		task.finished = true;
		if (!this.over) {
			try {
				passOn(task);
			}
			catch (Abort ex) {
				// It is now
			}
		}
	}

	private void note(Throwable failure) {
		if (this.failure == null) {
			this.failure = failure;
		}
		this.over = true;
		this.end.countDown();
	}

	/**
	 * End the run, as something is wrong.
	 */
	Abort fail(Throwable failure) {
		if (!this.over) {
			note(failure);
		}
		throw new Abort();
	}

	void checkNotOver() {
		if (this.over) {
			throw new Abort();
		}
	}

	void slowBy(long nanos) {
		this.slowness = nanos;
	}

	void whenIdle(Runnable check) {
		this.idleChecks.add(check);
	}

	/**
	 * The current thread comes to a point at which another one may go on.
	 */
	void point() {
		Task task = this.current;
		if (task.atomic == 0 && !this.quiet) {
			checkNotOver();
			passOn(task);
		}
	}

	/**
	 * The current thread waits.
	 * @param ready tells whether it can go on
	 * @param wakeTime tells when it goes on all the same
	 */
	void block(BooleanSupplier ready, LongSupplier wakeTime) {
		Task task = this.current;
		if (task.atomic > 0 || this.quiet) {
			if (!ready.getAsBoolean()) {
				fail(new IllegalStateException("A thread waits where it must not"));
			}
			return;
		}
		checkNotOver();
		task.ready = ready;
		task.wakeTime = wakeTime;
		try {
			passOn(task);
		}
		finally {
			task.ready = null;
			task.wakeTime = Task.NO_TIME;
		}
	}

	/**
	 * A choice that is none between threads.
	 */
	int choose(int size) {
		return this.schedule.choose(size);
	}

	/**
	 * Have a look without any points.
	 */
	<T extends @Nullable Object> T quietly(Supplier<T> look) {
		this.quiet = true;
		try {
			return look.get();
		}
		finally {
			this.quiet = false;
		}
	}

	private void passOn(Task task) {
		Task next;
		try {
			next = quietly(() -> next(task));
		}
		catch (AssertionError ex) {
			throw fail(ex);
		}
		if (next == null) {
			this.over = true;
			this.end.countDown();
			if (!task.finished) {
				throw new Abort();
			}
		}
		else if (next != task) {
			if (this.trace != null) {
				this.trace.add(task + " " + where() + " -> " + next);
			}
			this.current = next;
			LockSupport.unpark(next.thread);
			if (!task.finished) {
				task.await();
			}
		}
	}

	private @Nullable Task next(Task task) {
		while (true) {
			if (this.tasks.stream().allMatch((one) -> one.finished || one.daemon)) {
				return null;
			}
			if (++this.steps > MOST_STEPS) {
				throw new AssertionError("The run does not end" + whereTasksAre());
			}
			boolean goesOn = findOptions(task);
			long time = nextTime();
			if (this.turn > LONGEST_TURN && goesOn && this.options.size() > 1) {
				this.options.remove(0);
				this.turn = 0;
				goesOn = false;
			}
			if (this.options.isEmpty()) {
				this.idleChecks.forEach(Runnable::run);
				if (time == Task.NEVER) {
					throw new AssertionError("All threads wait for ever" + whereTasksAre());
				}
				pass(time);
				continue;
			}
			if (time != Task.NEVER && time - this.now <= this.slowness) {
				this.options.add(this.clock);
			}
			Task next = (this.options.size() > 1) ? this.schedule.choose(this.options, goesOn, this.clock)
					: this.options.get(0);
			if (next != this.clock) {
				this.turn = (next == task) ? this.turn + 1 : 0;
				return next;
			}
			this.slowness -= time - this.now;
			pass(time);
		}
	}

	private boolean findOptions(Task task) {
		this.options.clear();
		boolean goesOn = task.isEnabled(this.now);
		if (goesOn) {
			this.options.add(task);
		}
		for (Task other : this.tasks) {
			if (other != task && other.isEnabled(this.now)) {
				this.options.add(other);
			}
		}
		return goesOn;
	}

	private long nextTime() {
		long longest = this.now + LONGEST_WAIT;
		long next = Task.NEVER;
		for (Task task : this.tasks) {
			if (!task.finished && task.ready != null) {
				long time = task.wakeTime.getAsLong();
				if (time > this.now && time < next && time <= longest) {
					next = time;
				}
			}
		}
		return next;
	}

	private void pass(long time) {
		if (this.trace != null) {
			this.trace.add("time passes: " + (time - this.now) / 1000 + " us");
		}
		this.now = time;
	}

	/**
	 * Take a monitor or a lock.
	 * @param object whose it is
	 * @param wait whether to wait for it
	 * @return {@code false} if another thread has it
	 */
	boolean lock(Object object, boolean wait) {
		point();
		Task task = this.current;
		Monitor monitor = this.monitors.computeIfAbsent(object, (key) -> new Monitor());
		if (monitor.isTakenFor(task)) {
			if (!wait) {
				return false;
			}
			block(() -> !monitor.isTakenFor(task), Task.NO_TIME);
		}
		monitor.owner = task;
		monitor.count++;
		task.locks++;
		return true;
	}

	void unlock(Object object) {
		if (this.over) {
			return;
		}
		Monitor monitor = this.monitors.get(object);
		if (monitor == null || monitor.owner != this.current) {
			throw new IllegalMonitorStateException("Not the lock of thread " + this.current);
		}
		this.current.locks--;
		if (--monitor.count == 0) {
			monitor.owner = null;
			point();
		}
	}

	boolean isLockedByCurrent(Object object) {
		Monitor monitor = this.monitors.get(object);
		return monitor != null && monitor.owner == this.current;
	}

	private static String where() {
		return StackWalker.getInstance()
			.walk((frames) -> frames
				.filter((frame) -> frame.getClassName().startsWith("io.github.holdfast.")
						&& !frame.getClassName().startsWith(Run.class.getPackageName() + "."))
				.limit(3)
				.map((frame) -> frame.getClassName().replaceFirst(".*\\.", "") + "." + frame.getMethodName() + ":"
						+ frame.getLineNumber())
				.collect(Collectors.joining(" < ")));
	}

	private String whereTasksAre() {
		StringBuilder text = new StringBuilder();
		for (Task task : this.tasks) {
			if (!task.finished) {
				text.append("\n  ").append(task);
				for (StackTraceElement frame : task.thread.getStackTrace()) {
					if (frame.getClassName().startsWith("io.github.holdfast.")
							&& !frame.getClassName().startsWith(Run.class.getPackageName() + ".")) {
						text.append("\n    at ").append(frame);
					}
				}
			}
		}
		return text.toString();
	}

	private static final class Monitor {

		private @Nullable Task owner;

		private int count;

		private boolean isTakenFor(Task task) {
			return this.owner != null && this.owner != task;
		}

	}

}
