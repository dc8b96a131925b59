package io.github.holdfast.core;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * A fair semaphore of one permit, made as that of the JDK is. The schedules use it in the
 * place of that one, for which Fray 0.9 has a model that fails when two threads wait.
 */
final class Semaphore {

	private final Sync sync = new Sync();

	Semaphore(int permits, boolean fair) {
		this.sync.releaseShared(permits);
	}

	boolean hasQueuedThreads() {
		return this.sync.hasQueuedThreads();
	}

	boolean tryAcquire() {
		return this.sync.take(false);
	}

	boolean tryAcquire(long timeout, TimeUnit unit) throws InterruptedException {
		return this.sync.tryAcquireSharedNanos(1, unit.toNanos(timeout));
	}

	void release() {
		this.sync.releaseShared(1);
	}

	private static final class Sync extends AbstractQueuedSynchronizer {

		private static final long serialVersionUID = 1L;

		private boolean take(boolean fair) {
			return !(fair && hasQueuedPredecessors()) && compareAndSetState(1, 0);
		}

		@Override
		protected int tryAcquireShared(int permits) {
			return take(true) ? 0 : -1;
		}

		@Override
		protected boolean tryReleaseShared(int permits) {
			int now;
			do {
				now = getState();
			}
			while (!compareAndSetState(now, now + permits));
			return true;
		}

	}

}
