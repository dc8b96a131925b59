package io.github.holdfast.core;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a backend for everything that happens by time. It renews leases, frees
 * the local queue when a lease has expired, and repeats releases that failed.
 */
final class Watchdog implements AutoCloseable {

	static final long RELEASE_AGAIN = TimeUnit.SECONDS.toNanos(1);

	static final long LONGEST_SLEEP = TimeUnit.HOURS.toNanos(1);

	private static final Logger logger = LoggerFactory.getLogger(Watchdog.class);

	private static final long SHORTEST_SLEEP = TimeUnit.MILLISECONDS.toNanos(5);

	private final Supplier<String> backend;

	private final Set<Grant> grants = ConcurrentHashMap.newKeySet();

	private final ThreadPoolExecutor releases = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), (release) -> daemon(release, "holdfast-release"));

	private @Nullable Thread thread;

	private volatile long wakesAt = System.nanoTime() + LONGEST_SLEEP;

	private volatile boolean closed;

	Watchdog(Supplier<String> backend) {
		this.backend = backend;
		this.releases.allowCoreThreadTimeOut(true);
	}

	private static Thread daemon(Runnable work, String name) {
		Thread thread = new Thread(work, name);
		thread.setDaemon(true);
		return thread;
	}

	/**
	 * Runs a late release. Two threads do this, so that one that blocks does not delay
	 * all others.
	 */
	void later(Runnable release) {
		this.releases.execute(release);
	}

	/**
	 * Watches a grant until it is forgotten.
	 */
	void watch(Grant grant) {
		this.grants.add(grant);
		if (this.wakesAt - grant.tick(System.nanoTime()) > 0) {
			LockSupport.unpark(thread());
		}
	}

	void forget(Grant grant) {
		this.grants.remove(grant);
	}

	private synchronized @Nullable Thread thread() {
		if (this.thread == null && !this.closed) {
			Thread thread = daemon(this::run, "holdfast-watchdog-" + this.backend.get());
			thread.start();
			this.thread = thread;
		}
		return this.thread;
	}

	private void run() {
		while (!this.closed) {
			// A grant that comes during the walk wakes this thread
			this.wakesAt = System.nanoTime() + LONGEST_SLEEP;
			long next = walk(System.nanoTime());
			this.wakesAt = next;
			LockSupport.parkNanos(Math.max(SHORTEST_SLEEP, next - System.nanoTime()));
		}
	}

	private long walk(long now) {
		long next = now + LONGEST_SLEEP;
		for (Grant grant : this.grants) {
			try {
				long due = grant.tick(now);
				next = (due - next < 0) ? due : next;
			}
			catch (RuntimeException | Error ex) {
				logger.warn("A lease could not be renewed or released", ex);
			}
		}
		return next;
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		// Those that are kept after their call would be kept for ever
		this.grants.stream().filter((grant) -> !grant.lease().expires()).forEach(Grant::release);
		LockSupport.unpark(this.thread);
	}

}
