package io.github.holdfast.schedules;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * What woven code calls instead of the JDK. On threads of no run there is no schedule.
 */
public final class Hooks {

	private Hooks() {
	}

	private static @Nullable Task task() {
		return Worker.currentTask();
	}

	/**
	 * Before something that other threads may notice.
	 */
	public static void point() {
		Task task = task();
		if (task != null) {
			task.run.point();
		}
	}

	/**
	 * Begins what has no points.
	 */
	public static void enterAtomic() {
		Task task = task();
		if (task != null) {
			task.atomic++;
		}
	}

	/**
	 * Ends what has no points.
	 */
	public static void exitAtomic() {
		Task task = task();
		if (task != null) {
			task.atomic--;
		}
	}

	/**
	 * The time of the run. What is initialized once, in whatever run, sees the beginning
	 * of time.
	 * @return nanoseconds
	 */
	public static long nanoTime() {
		Task task = task();
		return (task != null && task.atomic == 0) ? task.run.now() : 0;
	}

	/**
	 * Takes the monitor of an object.
	 * @param object the object
	 */
	public static void monitorEnter(Object object) {
		Task task = task();
		if (task != null) {
			task.run.lock(object, true);
		}
	}

	/**
	 * Gives the monitor of an object back.
	 * @param object the object
	 */
	public static void monitorExit(Object object) {
		Task task = task();
		if (task != null) {
			task.run.unlock(object);
		}
	}

	/**
	 * Waits until woken.
	 * @param blocker is not used
	 * @param nanos how long at most
	 */
	public static void parkNanos(@Nullable Object blocker, long nanos) {
		Task task = task();
		if (task == null || nanos <= 0) {
			return;
		}
		task.run.point();
		long wakeTime = (nanos < Task.NEVER - task.run.now()) ? task.run.now() + nanos : Task.NEVER;
		task.parked = true;
		try {
			if (!task.permit && !task.interrupted) {
				task.run.block(() -> task.permit || task.interrupted, () -> wakeTime);
			}
		}
		finally {
			task.parked = false;
			task.permit = false;
		}
	}

	/**
	 * Wakes a thread.
	 * @param thread the thread
	 */
	public static void unpark(@Nullable Thread thread) {
		point();
		Task task = (thread != null) ? Worker.taskOf(thread) : null;
		if (task != null) {
			task.permit = true;
		}
	}

	/**
	 * Lets time pass.
	 * @param unit the unit
	 * @param time how long
	 * @throws InterruptedException if the thread is interrupted meanwhile
	 */
	public static void sleep(TimeUnit unit, long time) throws InterruptedException {
		Task task = task();
		if (task != null) {
			long wakeTime = task.run.now() + unit.toNanos(time);
			if (!task.interrupted) {
				task.run.block(() -> task.interrupted, () -> wakeTime);
			}
			if (interrupted()) {
				throw new InterruptedException();
			}
		}
	}

	/**
	 * Interrupts a thread.
	 * @param thread the thread
	 */
	public static void interrupt(Thread thread) {
		Task task = Worker.taskOf(thread);
		if (task != null) {
			point();
			task.interrupted = true;
		}
	}

	/**
	 * Whether a thread is interrupted.
	 * @param thread the thread
	 * @return its flag
	 */
	public static boolean isInterrupted(Thread thread) {
		point();
		Task task = Worker.taskOf(thread);
		return task != null && task.interrupted;
	}

	/**
	 * Takes the interrupt flag of the current thread.
	 * @return its flag
	 */
	public static boolean interrupted() {
		point();
		Task task = task();
		boolean interrupted = task != null && task.interrupted;
		if (interrupted) {
			task.interrupted = false;
		}
		return interrupted;
	}

	/**
	 * Waits for an answer.
	 * @param <T> its type
	 * @param answer the answer
	 * @return its value
	 */
	public static <T> T join(CompletableFuture<T> answer) {
		Task task = task();
		if (task != null) {
			task.run.point();
			task.run.block(answer::isDone, Task.NO_TIME);
		}
		return answer.join();
	}

	/**
	 * A set that keeps the order in which its members came.
	 * @param <T> the type of the members
	 * @return an empty set
	 */
	public static <T> Set<T> newKeySet() {
		return new ControlledSet<>();
	}

}
