package io.github.holdfast.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Deletes the rows of keys that were not used for a while, in the background. A row that
 * is in use is skipped.
 */
public final class JdbcLockPurge implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(JdbcLockPurge.class);

	private static final int PAGE_SIZE = 200;

	private static final long SHORTEST_INTERVAL = TimeUnit.MINUTES.toNanos(1);

	private static final long LONGEST_INTERVAL = TimeUnit.HOURS.toNanos(6);

	private final OwnConnections connections;

	private final Duration retention;

	private final long interval;

	private @Nullable ScheduledExecutorService executor;

	/**
	 * Create a purge.
	 * @param dataSource supplies the database with the table
	 * @param retention how long an unused row is kept; zero switches the purge off
	 */
	public JdbcLockPurge(Supplier<DataSource> dataSource, Duration retention) {
		this(dataSource, retention, interval(retention));
	}

	JdbcLockPurge(Supplier<DataSource> dataSource, Duration retention, Duration interval) {
		this.connections = new OwnConnections(dataSource);
		this.retention = retention;
		this.interval = interval.toNanos();
	}

	static Duration interval(Duration retention) {
		long tenth = retention.toNanos() / 10;
		return Duration.ofNanos(Math.min(LONGEST_INTERVAL, Math.max(SHORTEST_INTERVAL, tenth)));
	}

	@Override
	public boolean isAutoStartup() {
		return !this.retention.isZero();
	}

	@Override
	public synchronized void start() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("holdfast-purge-");
		threads.setDaemon(true);
		ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(threads);
		this.executor = executor;
		executor.scheduleWithFixedDelay(() -> run(executor), ThreadLocalRandom.current().nextLong(this.interval),
				this.interval, TimeUnit.NANOSECONDS);
	}

	private void run(ScheduledExecutorService executor) {
		try {
			run(() -> !executor.isShutdown());
		}
		catch (SQLException | RuntimeException ex) {
			boolean denied = ex instanceof SQLException failure && this.connections.isDenied(failure);
			if (denied) {
				executor.shutdown();
			}
			logger.warn("Unused rows of holdfast_lock could not be deleted{}",
					denied ? ": grant DELETE, or set 'holdfast.jdbc.retention' to 0" : "", ex);
		}
	}

	/**
	 * Deletes all rows that are older than the retention.
	 * @param goesOn asked before each page
	 * @throws SQLException if the database failed
	 */
	public void run(BooleanSupplier goesOn) throws SQLException {
		String after = "";
		while (after != null && goesOn.getAsBoolean()) {
			String last = after;
			after = this.connections.<@Nullable String>inTransaction(
					(connection, rows) -> rows.purge(connection, last, this.retention, PAGE_SIZE));
		}
	}

	@Override
	public synchronized void stop() {
		ScheduledExecutorService executor = this.executor;
		this.executor = null;
		if (executor != null) {
			executor.shutdown();
			try {
				// Not interrupted, because some drivers would break their connection
				executor.awaitTermination(20, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.executor != null;
	}

}
