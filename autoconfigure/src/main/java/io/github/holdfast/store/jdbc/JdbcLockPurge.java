package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * Deletes the rows of locks that nobody has used for long: those that have been free, or
 * whose lease has run out, for a given time by the database's clock. Runs on a thread of
 * its own, first at a random time, so that not all nodes purge at once.
 *
 * <p>
 * Reads without locks which rows are idle, some at a time. Then, in a short transaction,
 * locks those of them that nobody else has locked, and deletes what has not been used
 * meanwhile, with what is left of its renewals. So it never waits for a lock statement or
 * a commit, and none waits for it longer than for that. Rows whose epoch is ahead of the
 * clock stay, so that the next epoch of a deleted one is a later one.
 *
 * @since 0.2.0
 */
public final class JdbcLockPurge implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(JdbcLockPurge.class);

	private static final int PAGE_SIZE = 50;

	private static final String OLD = "expires_at < {now} - {after} AND epoch < {now} - {after}";

	private static final String NOT_RENEWED = """
			NOT EXISTS (SELECT 1 FROM holdfast_renewal r WHERE r.lock_key = holdfast_lock.lock_key
				AND r.epoch = holdfast_lock.epoch AND r.owner = holdfast_lock.owner
				AND r.expires_at >= {now} - {after})""";

	private static final String IDLE = "SELECT lock_key FROM holdfast_lock WHERE lock_key > ? AND " + OLD + " AND "
			+ NOT_RENEWED + " ORDER BY lock_key LIMIT " + PAGE_SIZE;

	private static final String LOCK = "SELECT 1 FROM holdfast_lock WHERE lock_key = ? AND " + OLD
			+ " FOR UPDATE SKIP LOCKED";

	/** Another statement than the one that locks, so that no renewal is overlooked. */
	private static final String DELETE = "DELETE FROM holdfast_lock WHERE lock_key = ? AND " + NOT_RENEWED;

	private static final String DELETE_RENEWAL = "DELETE FROM holdfast_renewal WHERE lock_key = ?";

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** For the whole table, in which nothing may be idle. */
	private static final Duration READ_TIMEOUT = Duration.ofMinutes(1);

	private static final Duration MIN_INTERVAL = Duration.ofMinutes(1);

	private static final Duration MAX_INTERVAL = Duration.ofHours(6);

	/** Longer than the statements of one page. */
	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

	private final LockConnections<SqlDialect> connections;

	private final Duration purgeAfter;

	private final Duration interval;

	private volatile @Nullable ScheduledExecutorService executor;

	/**
	 * Create a purge, which does not run yet.
	 * @param dataSource supplies the database, at the first use
	 * @param purgeAfter how long the row of a lock is kept after its last use, zero for
	 * ever
	 */
	public JdbcLockPurge(Supplier<DataSource> dataSource, Duration purgeAfter) {
		this(dataSource, purgeAfter, interval(purgeAfter));
	}

	JdbcLockPurge(Supplier<DataSource> dataSource, Duration purgeAfter, Duration interval) {
		this.connections = new LockConnections<>(dataSource, Function.identity());
		this.purgeAfter = purgeAfter;
		this.interval = interval;
	}

	/**
	 * How often to purge: so that rows do not stay much longer than they have to.
	 */
	static Duration interval(Duration purgeAfter) {
		Duration tenth = purgeAfter.dividedBy(10);
		return (tenth.compareTo(MIN_INTERVAL) < 0) ? MIN_INTERVAL
				: (tenth.compareTo(MAX_INTERVAL) > 0) ? MAX_INTERVAL : tenth;
	}

	@Override
	public boolean isAutoStartup() {
		return !this.purgeAfter.isZero();
	}

	@Override
	public void start() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("holdfast-purge-");
		threads.setDaemon(true);
		ScheduledExecutorService executor = new ScheduledThreadPoolExecutor(1, threads);
		this.executor = executor;
		long nanos = this.interval.toNanos();
		executor.scheduleWithFixedDelay(() -> run(executor), ThreadLocalRandom.current().nextLong(nanos), nanos,
				TimeUnit.NANOSECONDS);
	}

	private void run(ScheduledExecutorService executor) {
		try {
			logger.debug("{} idle lock rows were purged", run(() -> !executor.isShutdown()));
		}
		catch (SQLException | RuntimeException ex) {
			if (ex instanceof SQLException denied && this.connections.is(denied, SqlDialect::isDenied)) {
				logger.warn("Idle lock rows are not purged until the next start: {}. Grant DELETE on 'holdfast_lock' "
						+ "and 'holdfast_renewal', or set 'holdfast.jdbc.purge-after' to 0", ex.getMessage());
				executor.shutdown();
			}
			else if (!executor.isShutdown()) {
				logger.warn("Idle lock rows could not be purged, the next try is in {}", this.interval, ex);
			}
		}
	}

	/**
	 * Go through the whole table once.
	 * @param goOn asked from time to time whether to go on
	 * @return how many rows were deleted
	 * @throws SQLException if the database fails; what was deleted before stays deleted
	 */
	public int run(BooleanSupplier goOn) throws SQLException {
		int deleted = 0;
		List<Object> idle = List.of();
		do {
			List<Object> before = idle;
			List<Object> page = this.connections.call((connection, dialect) -> idle(connection, dialect, before));
			deleted += page.isEmpty() ? 0
					: this.connections.inTransaction((connection, dialect) -> delete(connection, dialect, page));
			idle = page;
		}
		while (idle.size() == PAGE_SIZE && goOn.getAsBoolean());
		return deleted;
	}

	/**
	 * The keys are as the driver gives them, since other rows than ours may be there.
	 */
	private List<Object> idle(Connection connection, SqlDialect dialect, List<Object> before) throws SQLException {
		List<Object> idle = new ArrayList<>();
		try (PreparedStatement statement = prepare(connection, dialect, IDLE, READ_TIMEOUT)) {
			if (before.isEmpty()) {
				dialect.setKey(statement, 1, "");
			}
			else {
				statement.setObject(1, before.get(before.size() - 1));
			}
			try (ResultSet rs = statement.executeQuery()) {
				while (rs.next()) {
					idle.add(rs.getObject(1));
				}
			}
		}
		return idle;
	}

	private int delete(Connection connection, SqlDialect dialect, List<Object> idle) throws SQLException {
		int deleted = 0;
		try (PreparedStatement lock = prepare(connection, dialect, LOCK, TIMEOUT);
				PreparedStatement delete = prepare(connection, dialect, DELETE, TIMEOUT);
				PreparedStatement deleteRenewal = prepare(connection, dialect, DELETE_RENEWAL, TIMEOUT)) {
			for (Object key : idle) {
				lock.setObject(1, key);
				delete.setObject(1, key);
				deleteRenewal.setObject(1, key);
				if (isLocked(lock) && delete.executeUpdate() == 1) {
					deleteRenewal.executeUpdate();
					deleted++;
				}
			}
		}
		return deleted;
	}

	private static boolean isLocked(PreparedStatement lock) throws SQLException {
		try (ResultSet rs = lock.executeQuery()) {
			return rs.next();
		}
	}

	private PreparedStatement prepare(Connection connection, SqlDialect dialect, String sql, Duration timeout)
			throws SQLException {
		return LockConnections.prepare(connection, sql.replace("{now}", dialect.now())
			.replace("{after}", Long.toString(TimeUnit.MICROSECONDS.convert(this.purgeAfter))), timeout);
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
			executor.awaitTermination(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public boolean isRunning() {
		return this.executor != null;
	}

}
