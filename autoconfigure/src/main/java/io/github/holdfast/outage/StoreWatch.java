package io.github.holdfast.outage;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.support.DaemonThreads;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.Shortage;

/**
 * Knows whether a store is down. It is probed after a failure, by one thread, and again
 * and again while that fails. Costs a call one look at a field.
 */
final class StoreWatch implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(OutageLockBackend.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

	/** After a probe that succeeded, for what fails in other ways. */
	private static final Duration TRUST = Duration.ofSeconds(1);

	private final LockBackend store;

	private final ScheduledThreadPoolExecutor prober = DaemonThreads.scheduler("holdfast-probe", 1);

	private final AtomicBoolean probing = new AtomicBoolean();

	private final AtomicReference<@Nullable Outage> outage = new AtomicReference<>();

	/** Whether a call has had an answer since the last probe began. */
	private volatile boolean answered;

	private volatile Deadline trusted = Deadline.PASSED;

	StoreWatch(LockBackend store) {
		this.store = store;
		this.prober.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	boolean isDown() {
		return this.outage.get() != null;
	}

	/**
	 * Refuse a call for a lock while the store is down.
	 */
	void check(String key) {
		Outage outage = this.outage.get();
		if (outage != null) {
			throw new LockBackendException(key, "the store has not answered for " + outage.time().toMillis()
					+ " ms, so calls fail at once until it does", outage.failure());
		}
	}

	/**
	 * Note that a request has failed, by whatever cause. That of an interrupted thread
	 * says nothing, and nor does that of a pool of this process.
	 */
	void failed(String key, LockBackendException failure) {
		if (Thread.currentThread().isInterrupted() || Shortage.isIn(failure) || !this.trusted.hasPassed()) {
			return;
		}
		if (this.probing.compareAndSet(false, true)) {
			probeAfter(key, Duration.ZERO, FIRST_PAUSE);
		}
	}

	/**
	 * Note that a call has had an answer. That says more than a probe that fails, or has
	 * failed, meanwhile.
	 */
	void answered() {
		if (this.probing.get()) {
			this.answered = true;
			end();
		}
	}

	private void probeAfter(String key, Duration time, Duration pause) {
		try {
			this.prober.schedule(() -> probe(key, pause), time.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			// The application ends
		}
	}

	void probe(String key, Duration pause) {
		this.answered = false;
		try {
			this.store.probe(key);
		}
		catch (RuntimeException ex) {
			if (!this.answered) {
				down(ex);
			}
			// An answer that came meanwhile has seen no outage to end
			if (this.answered) {
				end();
			}
			Duration twice = pause.multipliedBy(2);
			probeAfter(key, jittered(pause), (twice.compareTo(LONGEST_PAUSE) < 0) ? twice : LONGEST_PAUSE);
			return;
		}
		up();
	}

	/**
	 * So that the nodes of an application do not ask at the same time.
	 */
	private static Duration jittered(Duration pause) {
		return Duration.ofNanos(ThreadLocalRandom.current().nextLong(pause.toNanos() / 2, pause.toNanos() + 1));
	}

	private void down(RuntimeException failure) {
		Outage before = this.outage.get();
		this.outage.set(new Outage((before != null) ? before.start() : System.nanoTime(), failure));
		if (before == null) {
			logger.warn("The {} is down: calls that need locks fail at once until it answers", this.store, failure);
		}
	}

	private void up() {
		this.trusted = Deadline.after(TRUST);
		this.probing.set(false);
		end();
	}

	private void end() {
		Outage before = this.outage.getAndSet(null);
		if (before != null) {
			logger.info("The {} answers again, after {} ms", this.store, before.time().toMillis());
		}
	}

	@Override
	public void close() {
		this.prober.shutdownNow();
	}

	/**
	 * A time in which a store does not answer.
	 *
	 * @param start when the first probe has failed, by the monotonic clock
	 * @param failure what the last probe has met
	 */
	private record Outage(long start, RuntimeException failure) {

		private Duration time() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

	}

}
