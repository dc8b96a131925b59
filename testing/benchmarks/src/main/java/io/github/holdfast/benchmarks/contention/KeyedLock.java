package io.github.holdfast.benchmarks.contention;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.local.LocalLockBackend;

/**
 * One lock for each key: ours, and what the JDK offers inside of one JVM.
 */
public enum KeyedLock {

	/** A {@link LockTemplate} on the backend {@code local}. */
	HOLDFAST_LOCAL {

		private final LockTemplate template = new LockTemplate(new LockManager(new LocalLockBackend()));

		@Override
		void run(String key, Runnable body) {
			this.template.run(key, body::run);
		}

	},

	/** A fair {@link ReentrantLock} for each key, which is kept for ever. */
	FAIR_REENTRANT_LOCK {

		private final ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();

		@Override
		void run(String key, Runnable body) {
			runLocked(this.locks.computeIfAbsent(key, (k) -> new ReentrantLock(true)), body);
		}

	},

	/** The same without fairness, so that a thread may overtake those that wait. */
	UNFAIR_REENTRANT_LOCK {

		private final ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();

		@Override
		void run(String key, Runnable body) {
			runLocked(this.locks.computeIfAbsent(key, (k) -> new ReentrantLock(false)), body);
		}

	};

	abstract void run(String key, Runnable body);

	private static void runLocked(ReentrantLock lock, Runnable body) {
		lock.lock();
		try {
			body.run();
		}
		finally {
			lock.unlock();
		}
	}

}
