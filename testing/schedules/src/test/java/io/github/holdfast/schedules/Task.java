package io.github.holdfast.schedules;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A thread of a run. Touched only by the thread whose turn it is.
 */
public final class Task {

	static final long NEVER = Long.MAX_VALUE;

	static final LongSupplier NO_TIME = () -> NEVER;

	final Run run;

	final String name;

	final boolean daemon;

	final Action action;

	final CountDownLatch ended = new CountDownLatch(1);

	Thread thread = Thread.currentThread();

	/** What it waits for, or {@code null} if it can go on. */
	@Nullable BooleanSupplier ready;

	/** When it goes on all the same. */
	LongSupplier wakeTime = NO_TIME;

	boolean parked;

	boolean permit;

	boolean interrupted;

	boolean finished;

	/** While above zero, no other thread has its turn. */
	int atomic;

	/** How many locks and monitors it has. */
	int locks;

	Task(Run run, String name, boolean daemon, Action action) {
		this.run = run;
		this.name = name;
		this.daemon = daemon;
		this.action = action;
	}

	boolean isEnabled(long now) {
		BooleanSupplier ready = this.ready;
		return !this.finished && (ready == null || ready.getAsBoolean() || this.wakeTime.getAsLong() <= now);
	}

	/**
	 * Wait for the turn of this task.
	 */
	void await() {
		while (this.run.current() != this) {
			LockSupport.park(this);
		}
		this.run.checkNotOver();
	}

	/**
	 * Interrupts the thread.
	 */
	public void interrupt() {
		this.run.point();
		this.interrupted = true;
	}

	/**
	 * Whether the thread sleeps until somebody wakes it.
	 * @return {@code false} also once it was woken
	 */
	public boolean isParked() {
		return this.parked && !this.permit && !this.interrupted;
	}

	/**
	 * Waits until the thread has ended.
	 */
	public void join() {
		this.run.block(() -> this.finished, NO_TIME);
	}

	/**
	 * Whether the thread has ended.
	 * @return {@code true} once it has
	 */
	public boolean isFinished() {
		return this.finished;
	}

	@Override
	public String toString() {
		return this.name;
	}

}
