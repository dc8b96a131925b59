package io.github.holdfast.schedules;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What a test can do with its threads and its clock. Given to each method with
 * {@link Schedules}.
 */
public final class Threads {

	private final Run run;

	private final List<Task> started = new ArrayList<>();

	Threads(Run run) {
		this.run = run;
	}

	/**
	 * Starts a thread. The run lasts until all of them have ended.
	 * @param name its name
	 * @param action what it does
	 * @return the thread
	 */
	public Task start(String name, Action action) {
		Task task = this.run.add(name, false, action);
		this.started.add(task);
		this.run.point();
		return task;
	}

	/**
	 * Starts a thread that the run does not wait for.
	 * @param name its name
	 * @param action what it does
	 */
	public void startDaemon(String name, Action action) {
		this.run.add(name, true, action);
		this.run.point();
	}

	/**
	 * Waits until all threads that were started have ended.
	 */
	public void join() {
		this.started.forEach(Task::join);
	}

	/**
	 * The thread that runs now.
	 * @return the thread
	 */
	public Task current() {
		return this.run.current();
	}

	/**
	 * Lets another thread have its turn.
	 */
	public void point() {
		this.run.point();
	}

	/**
	 * Lets time pass for the current thread.
	 * @param millis how long
	 */
	public void pause(long millis) {
		long wakeTime = this.run.now() + millis * 1_000_000;
		this.run.block(() -> false, () -> wakeTime);
	}

	/**
	 * Waits for a condition.
	 * @param condition is asked when others have had their turn
	 */
	public void await(BooleanSupplier condition) {
		this.run.block(condition, Task.NO_TIME);
	}

	/**
	 * Waits for a condition, but not for ever.
	 * @param condition is asked when others have had their turn
	 * @param nanos how long to wait at most
	 */
	public void await(BooleanSupplier condition, long nanos) {
		long wakeTime = this.run.now() + nanos;
		this.run.block(condition, () -> wakeTime);
	}

	/**
	 * Lets the schedule choose what a test does.
	 * @param size how many ways there are
	 * @return at least zero and less than the size
	 */
	public int choose(int size) {
		return this.run.choose(size);
	}

	/**
	 * Limits for how long, in all, time passes while threads could go on.
	 * @param millis how long
	 */
	public void slowBy(long millis) {
		this.run.slowBy(millis * 1_000_000);
	}

	/**
	 * Has something checked whenever no thread can go on before time passes.
	 * @param check throws an {@link AssertionError}
	 */
	public void whenIdle(Runnable check) {
		this.run.whenIdle(check);
	}

	/**
	 * Ends the run as a failure if something does not hold, which no other code can
	 * catch.
	 * @param holds whether it does
	 * @param promise what was to hold
	 */
	public void check(boolean holds, String promise) {
		if (!holds) {
			this.run.fail(new AssertionError("Broken: " + promise));
		}
	}

	/**
	 * Looks at several things at one moment.
	 * @param look does not wait
	 * @return what it has seen
	 */
	public boolean atOnce(BooleanSupplier look) {
		return this.run.quietly(look::getAsBoolean);
	}

	/**
	 * The time of the run.
	 * @return nanoseconds
	 */
	public long now() {
		return this.run.now();
	}

}
