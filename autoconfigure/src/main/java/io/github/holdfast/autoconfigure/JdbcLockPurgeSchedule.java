package io.github.holdfast.autoconfigure;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

import io.github.holdfast.jdbc.JdbcLockPurge;

/**
 * Runs the purge of idle lock rows on a thread of its own, from the start of the context
 * until it is closed. The first run comes at a random time, so that the nodes of an
 * application do not purge all at once.
 */
class JdbcLockPurgeSchedule implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(JdbcLockPurgeSchedule.class);

	private static final Duration MIN_INTERVAL = Duration.ofMinutes(1);

	private static final Duration MAX_INTERVAL = Duration.ofHours(6);

	/** Longer than the statements of one page. */
	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

	private final JdbcLockPurge purge;

	private final Duration interval;

	private volatile boolean denied;

	private volatile @Nullable ScheduledExecutorService executor;

	/**
	 * Create a schedule.
	 * @param purge what to run
	 * @param interval the time between two runs, zero for none at all
	 */
	JdbcLockPurgeSchedule(JdbcLockPurge purge, Duration interval) {
		this.purge = purge;
		this.interval = interval;
	}

	/**
	 * How often to purge: so that rows do not stay much longer than they have to.
	 */
	static Duration interval(Duration purgeAfter) {
		Duration interval = purgeAfter.dividedBy(10);
		if (purgeAfter.isZero() || interval.compareTo(MAX_INTERVAL) > 0) {
			return purgeAfter.isZero() ? Duration.ZERO : MAX_INTERVAL;
		}
		return (interval.compareTo(MIN_INTERVAL) < 0) ? MIN_INTERVAL : interval;
	}

	@Override
	public boolean isAutoStartup() {
		return !this.interval.isZero();
	}

	@Override
	public void start() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("holdfast-purge-");
		threads.setDaemon(true);
		ScheduledExecutorService executor = new ScheduledThreadPoolExecutor(1, threads);
		this.executor = executor;
		long nanos = this.interval.toNanos();
		executor.scheduleWithFixedDelay(() -> run(executor, () -> purge(executor)),
				ThreadLocalRandom.current().nextLong(nanos), nanos, TimeUnit.NANOSECONDS);
		executor.execute(() -> run(executor, this.purge::check));
	}

	private void purge(ScheduledExecutorService executor) throws SQLException {
		int deleted = this.purge.run(() -> !executor.isShutdown());
		logger.debug("{} idle lock rows were purged", deleted);
	}

	private void run(ScheduledExecutorService executor, Task task) {
		try {
			if (!this.denied) {
				task.run();
			}
		}
		catch (SQLException | RuntimeException ex) {
			this.denied = ex instanceof SQLException sqlException && this.purge.isDenied(sqlException);
			if (this.denied) {
				logger.warn("Idle lock rows are not purged until the next start: {}. Grant DELETE on 'holdfast_lock' "
						+ "and 'holdfast_renewal', or set 'holdfast.jdbc.purge-after' to 0", ex.getMessage());
			}
			else if (!executor.isShutdown()) {
				logger.warn("Idle lock rows could not be purged, the next try is in {}", this.interval, ex);
			}
		}
	}

	@Override
	public void stop() {
		ScheduledExecutorService executor = this.executor;
		this.executor = null;
		if (executor == null) {
			return;
		}
		executor.shutdown();
		try {
			// Not interrupted, since some drivers would break
			if (!executor.awaitTermination(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
				logger.warn("The purge of idle lock rows has not ended within {}", STOP_TIMEOUT);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public boolean isRunning() {
		return this.executor != null;
	}

	@FunctionalInterface
	private interface Task {

		void run() throws SQLException;

	}

}
