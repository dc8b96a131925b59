package io.github.holdfast.core;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A fair semaphore of the JDK, as far as the core uses one, in the time of the
 * {@link World}. The schedules put it in the place of the other one, whose timed waits
 * never end under their control.
 */
final class Semaphore {

	private final List<Thread> queue = new ArrayList<>();

	private int permits;

	Semaphore(int permits, boolean fair) {
		this.permits = permits;
	}

	boolean hasQueuedThreads() {
		synchronized (World.class) {
			return !this.queue.isEmpty();
		}
	}

	boolean tryAcquire() {
		synchronized (World.class) {
			if (this.permits == 0) {
				return false;
			}
			this.permits--;
			return true;
		}
	}

	boolean tryAcquire(long timeout, TimeUnit unit) throws InterruptedException {
		synchronized (World.class) {
			if (World.interrupted()) {
				throw new InterruptedException();
			}
			if (this.queue.isEmpty() && tryAcquire()) {
				return true;
			}
			return timeout > 0 && await(World.nanoTime() + unit.toNanos(timeout));
		}
	}

	private boolean await(long end) throws InterruptedException {
		Thread thread = Thread.currentThread();
		this.queue.add(thread);
		World.queue();
		try {
			while (this.queue.get(0) != thread || !tryAcquire()) {
				if (World.interrupted()) {
					throw new InterruptedException();
				}
				if (World.nanoTime() - end >= 0) {
					return false;
				}
				World.sleep();
			}
			return true;
		}
		finally {
			this.queue.remove(thread);
			World.class.notifyAll();
		}
	}

	void release() {
		synchronized (World.class) {
			this.permits++;
			World.check(this.permits == 1, "two turns for one key");
			World.class.notifyAll();
		}
	}

}
