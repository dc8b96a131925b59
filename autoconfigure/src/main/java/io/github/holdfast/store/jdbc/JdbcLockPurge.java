package io.github.holdfast.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
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

import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.DaemonThreads;

/**
 * Deletes the rows of locks that nobody has used for long: those that have been free, or
 * whose lease has run out, for a given time by the database's clock. Runs on a thread of
 * its own, first at a random time, so that not all nodes purge at once.
 *
 * <p>
 * Walks through the table by its primary key, in pages. Each is a short transaction that
 * reads without locks which rows are idle, locks those of them that nobody else has
 * locked, and deletes what has not been used meanwhile, with what is left of its
 * renewals. So it never waits for a lock statement or a commit, and none waits for it
 * longer than for one page. Rows whose epoch is ahead of the clock stay, so that the next
 * epoch of a deleted one is a later one.
 *
 * @since 0.2.0
 */
public final class JdbcLockPurge implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(JdbcLockPurge.class);

	private static final int PAGE_SIZE = 200;

	private static final String OLD = "expires_at < {now} - {after} AND epoch < {now} - {after}";

	private static final String NOT_RENEWED = """
			NOT EXISTS (SELECT 1 FROM holdfast_renewal r WHERE r.lock_key = holdfast_lock.lock_key
				AND r.epoch = holdfast_lock.epoch AND r.owner = holdfast_lock.owner
				AND r.expires_at >= {now} - {after})""";

	private static final String PAGE = "SELECT lock_key, CASE WHEN " + OLD + " AND " + NOT_RENEWED
			+ " THEN 1 ELSE 0 END FROM holdfast_lock WHERE lock_key > ? ORDER BY lock_key LIMIT " + PAGE_SIZE;

	private static final String LOCK = "SELECT 1 FROM holdfast_lock WHERE lock_key = ? AND " + OLD
			+ " FOR UPDATE SKIP LOCKED";

	/** Another statement than the one that locks, so that no renewal is overlooked. */
	private static final String DELETE = "DELETE FROM holdfast_lock WHERE lock_key = ? AND " + NOT_RENEWED;

	private static final String DELETE_RENEWAL = "DELETE FROM holdfast_renewal WHERE lock_key IN (?, ?)";

	/** Fails if a privilege is missing, also while no row is idle. */
	private static final String[] CHECK = { "DELETE FROM holdfast_lock WHERE 1 = 0",
			"DELETE FROM holdfast_renewal WHERE 1 = 0" };

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

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
		ScheduledExecutorService executor = DaemonThreads.scheduler("holdfast-purge", 1);
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
		this.connections.execute(CHECK);
		int deleted = 0;
		Page page = new Page(null, PAGE_SIZE, 0);
		while (page.size() == PAGE_SIZE && goOn.getAsBoolean()) {
			Object after = page.last();
			page = this.connections.inTransaction((connection, dialect) -> purge(connection, dialect, after));
			deleted += page.deleted();
		}
		return deleted;
	}

	/**
	 * The keys are as the driver gives them, since other rows than ours may be there.
	 */
	private Page purge(Connection connection, SqlDialect dialect, @Nullable Object after) throws SQLException {
		List<Object> idle = new ArrayList<>();
		Object last = after;
		int size = 0;
		try (PreparedStatement statement = prepare(connection, dialect, PAGE)) {
			if (after == null) {
				dialect.setKey(statement, 1, "");
			}
			else {
				statement.setObject(1, after);
			}
			try (ResultSet rs = statement.executeQuery()) {
				for (; rs.next(); size++) {
					last = rs.getObject(1);
					if (rs.getInt(2) == 1) {
						idle.add(last);
					}
				}
			}
		}
		return new Page(last, size, idle.isEmpty() ? 0 : delete(connection, dialect, idle));
	}

	private int delete(Connection connection, SqlDialect dialect, List<Object> idle) throws SQLException {
		int deleted = 0;
		try (PreparedStatement lock = prepare(connection, dialect, LOCK);
				PreparedStatement delete = prepare(connection, dialect, DELETE);
				PreparedStatement deleteRenewal = prepare(connection, dialect, DELETE_RENEWAL)) {
			for (Object key : idle) {
				lock.setObject(1, key);
				delete.setObject(1, key);
				deleteRenewal.setObject(1, key);
				dialect.setKey(deleteRenewal, 2, RenewalTable.waitingId(id(key)));
				if (isLocked(lock) && delete.executeUpdate() == 1) {
					deleteRenewal.executeUpdate();
					deleted++;
				}
			}
		}
		return deleted;
	}

	private static String id(Object key) {
		return (key instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : key.toString();
	}

	private static boolean isLocked(PreparedStatement lock) throws SQLException {
		try (ResultSet rs = lock.executeQuery()) {
			return rs.next();
		}
	}

	private PreparedStatement prepare(Connection connection, SqlDialect dialect, String sql) throws SQLException {
		return LockConnections.prepare(connection, sql.replace("{now}", dialect.now())
			.replace("{after}", Long.toString(TimeUnit.MICROSECONDS.convert(this.purgeAfter))), TIMEOUT);
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

	/**
	 * @param last the key of the last row, or {@code null} before the first page
	 * @param size how many rows there were
	 * @param deleted how many of them were deleted
	 */
	private record Page(@Nullable Object last, int size, int deleted) {

	}

}
