package io.github.holdfast.schedules;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * A thread of the JVM that carries one task after the other.
 */
final class Worker extends Thread {

	private static final Deque<Worker> idle = new ConcurrentLinkedDeque<>();

	private volatile @Nullable Task task;

	private Worker() {
		setDaemon(true);
	}

	/**
	 * Let a task wait for its first turn.
	 */
	static void carry(Task task) {
		Worker worker = idle.pollFirst();
		if (worker == null) {
			worker = new Worker();
			worker.start();
		}
		task.thread = worker;
		worker.setName(task.name);
		worker.task = task;
		LockSupport.unpark(worker);
	}

	/**
	 * The task of the current thread, or {@code null} if no run has it.
	 */
	static @Nullable Task currentTask() {
		return taskOf(Thread.currentThread());
	}

	static @Nullable Task taskOf(Thread thread) {
		return (thread instanceof Worker worker) ? worker.task : null;
	}

	@Override
	public void run() {
		while (true) {
			Task task = this.task;
			if (task == null) {
				LockSupport.park(this);
				continue;
			}
			task.run.carry(task);
			this.task = null;
			idle.addFirst(this);
			task.ended.countDown();
		}
	}

}
