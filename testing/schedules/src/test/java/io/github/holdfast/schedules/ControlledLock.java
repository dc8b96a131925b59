package io.github.holdfast.schedules;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock under the schedule.
 */
public final class ControlledLock extends ReentrantLock {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a lock that is free.
	 */
	public ControlledLock() {
	}

	@Override
	public void lock() {
		Hooks.monitorEnter(this);
	}

	@Override
	public boolean tryLock() {
		Task task = Worker.currentTask();
		return task == null || task.run.lock(this, false);
	}

	@Override
	public void unlock() {
		Hooks.monitorExit(this);
	}

	@Override
	public boolean isHeldByCurrentThread() {
		Task task = Worker.currentTask();
		return task != null && task.run.isLockedByCurrent(this);
	}

}
