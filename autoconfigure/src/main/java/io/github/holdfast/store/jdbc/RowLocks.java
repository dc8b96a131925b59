package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockException;
import io.github.holdfast.sql.CancellableStatement;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.LockKeys;

/**
 * The statements by which business transactions lock rows of the table
 * {@code holdfast_lock}. A row that is locked so stays free, for others from the end of
 * the transaction on, but with another epoch and its holder.
 */
final class RowLocks {

	private static final Logger logger = LoggerFactory.getLogger(RowLocks.class);

	static final String[] EPOCH = { "epoch" };

	private static final String LOCK = "epoch = {epoch}, holder = {holder}, "
			+ "acquired_at = {now}, expires_at = {now} + ?";

	/** Which keeps callbacks after a rollback from what a holder in between has done. */
	private static final String FREE_ROW = LockTable.FREE_ROW + " AND epoch < ?";

	private static final String LOCK_FREE = """
			SELECT 1 FROM holdfast_lock WHERE lock_key = ? AND owner IS NULL
			FOR UPDATE SKIP LOCKED""";

	private static final String LOCK_ANY = "SELECT 1 FROM holdfast_lock WHERE lock_key = ? FOR UPDATE SKIP LOCKED";

	/** The holder stays, which says whose session has the row locked until then. */
	private static final String KEEP = "UPDATE holdfast_lock SET owner = ?, acquired_at = {now}, "
			+ "expires_at = {now} + ? WHERE lock_key = ? AND epoch = ?";

	/** The turns of many short transactions, and a small part of a wait time. */
	static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

	/** For a statement that waits longer only if the whole table is locked. */
	private static final Duration SHORT = Duration.ofSeconds(5);

	private final SqlDialect dialect;

	private final String lockFree;

	private final String awaitLock;

	private final @Nullable String awaitLockForASecond;

	private final String keep;

	RowLocks(SqlDialect dialect) {
		this.dialect = dialect;
		String lock = LOCK.replace("{epoch}", dialect.answered("greatest(epoch + 1, {now})"))
			.replace("{holder}", dialect.holder())
			.replace("{now}", dialect.now());
		this.lockFree = dialect.updateSkippingLocked("holdfast_lock", "lock_key", lock, FREE_ROW);
		this.awaitLock = dialect.updateAwaitingLocked("holdfast_lock", "lock_key", lock, FREE_ROW);
		this.awaitLockForASecond = dialect.waitingForASecond(this.awaitLock);
		this.keep = KEEP.replace("{now}", dialect.now());
	}

	SqlDialect dialect() {
		return this.dialect;
	}

	/**
	 * Lock the row of a lock in the transaction of its holder, if it is there and free,
	 * and if nobody else has it locked.
	 */
	boolean lock(Connection connection, RowLease lease) throws SQLException {
		return this.dialect.skipsLocked() ? lock(connection, this.lockFree, lease, null)
				: lockFree(connection, id(lease), SHORT) && lock(connection, this.awaitLock, lease, null);
	}

	/**
	 * Whether {@link #awaitLock} can be limited.
	 */
	boolean waits() {
		return this.dialect.cancelsWaits();
	}

	/**
	 * Lock the row of a lock in the transaction of its holder, and wait for the
	 * transaction that has it locked, for a second at most: one statement, whether it is
	 * locked or not. A lease is not waited for.
	 */
	boolean awaitLock(Connection connection, RowLease lease, Duration wait) throws SQLException {
		if (wait.compareTo(LONGEST_WAIT) < 0) {
			return lock(connection, this.awaitLock, lease, wait);
		}
		return (this.awaitLockForASecond != null) ? lock(connection, this.awaitLockForASecond, lease, SHORT)
				: lock(connection, this.awaitLock, lease, LONGEST_WAIT);
	}

	/**
	 * Run a lock statement.
	 * @param limit when to cancel it, or {@code null} if it does not wait for the row
	 */
	private boolean lock(Connection connection, String sql, RowLease lease, @Nullable Duration limit)
			throws SQLException {
		try (PreparedStatement statement = (limit != null) ? connection.prepareStatement(sql, EPOCH)
				: prepare(connection, sql)) {
			setLock(statement, lease);
			int locked = (limit != null) ? CancellableStatement.run(statement, limit, statement::executeUpdate)
					: statement.executeUpdate();
			if (locked == 0) {
				return false;
			}
			lease.taken(answer(statement));
			return true;
		}
	}

	/**
	 * The same as {@link #lock}, for several locks in one round trip.
	 * @return {@code false} if it was not all of them
	 */
	boolean lockAll(Connection connection, List<RowLease> leases) throws SQLException {
		if (!this.dialect.skipsLocked()) {
			for (RowLease lease : leases) {
				if (!lock(connection, lease)) {
					return false;
				}
			}
			return true;
		}
		try (PreparedStatement statement = prepare(connection, this.lockFree)) {
			for (RowLease lease : leases) {
				setLock(statement, lease);
				statement.addBatch();
			}
			return IntStream.of(statement.executeBatch()).allMatch((count) -> count == 1)
					&& areTaken(statement, leases);
		}
	}

	private static PreparedStatement prepare(Connection connection, String sql) throws SQLException {
		return LockConnections.limited(connection, connection.prepareStatement(sql, EPOCH), SHORT);
	}

	private static boolean areTaken(Statement statement, List<RowLease> leases) throws SQLException {
		try (ResultSet rs = statement.getGeneratedKeys()) {
			for (RowLease lease : leases) {
				if (!rs.next()) {
					return false;
				}
				lease.taken(rs.getLong(1));
			}
			return true;
		}
	}

	private void setLock(PreparedStatement statement, RowLease lease) throws SQLException {
		Duration leaseTime = lease.request().leaseTime();
		int index = this.dialect.setMarking(statement, 1,
				LockTable.shortened(lease.owner() + " " + lease.request().holder()));
		if (this.dialect.limitsIdleTransactions()) {
			statement.setString(index++, SqlDialect.idleMillis(leaseTime));
		}
		statement.setLong(index++, LockTable.micros(leaseTime));
		this.dialect.setKey(statement, index++, id(lease));
		statement.setLong(index, lease.isPending() ? Long.MAX_VALUE : lease.epoch());
	}

	/**
	 * Let the commit of the transaction that has a row locked leave a lease behind.
	 */
	void keep(Connection connection, RowLease lease) throws SQLException {
		lease.keep();
		try (PreparedStatement statement = LockConnections.prepare(connection, this.keep, SHORT)) {
			statement.setString(1, lease.owner());
			statement.setLong(2, LockTable.micros(lease.request().leaseTime()));
			this.dialect.setKey(statement, 3, id(lease));
			statement.setLong(4, lease.epoch());
			if (statement.executeUpdate() != 1) {
				throw new SQLException("The row is not locked any more");
			}
		}
	}

	private static String id(RowLease lease) {
		return LockKeys.id(lease.key(), SqlDialect.MAX_KEY_BYTES);
	}

	/**
	 * Whether a transaction has the row of a lock locked.
	 */
	boolean isLocked(Connection connection, String id, Duration timeout) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, LOCK_ANY, timeout)) {
			this.dialect.setKey(statement, 1, id);
			try (ResultSet rs = statement.executeQuery()) {
				return !rs.next();
			}
		}
	}

	/**
	 * End the session whose transaction has a free row locked, and has idled for longer
	 * than its lease time: its process hangs, or is cut off. Where the database does not
	 * do so itself.
	 * @param row the row, as it is committed
	 * @return whether there was one
	 */
	boolean endIdleHolder(Connection connection, String id, LockTable.Row row, Duration timeout) throws SQLException {
		String sql = this.dialect.idleHolder();
		if (sql == null) {
			return false;
		}
		try (Statement statement = connection.createStatement()) {
			statement.execute("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
			String kill = idleHolder(connection, sql, id, row, timeout);
			if (kill != null) {
				logger.warn("Lock {}: its transaction, idle for its lease time, is ended", LockException.quote(id));
				end(statement, kill);
			}
			return kill != null;
		}
	}

	/**
	 * Another waiter may have been faster.
	 */
	private void end(Statement statement, String kill) throws SQLException {
		try {
			statement.execute(kill);
		}
		catch (SQLException ex) {
			if (!this.dialect.isSessionGone(ex)) {
				throw ex;
			}
		}
	}

	private @Nullable String idleHolder(Connection connection, String sql, String id, LockTable.Row row,
			Duration timeout) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			this.dialect.setKey(statement, 1, id);
			statement.setLong(2, row.epoch());
			statement.setLong(3, row.now());
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next() ? rs.getString(1) : null;
			}
		}
	}

	boolean lockFree(Connection connection, String id, Duration timeout) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, LOCK_FREE, timeout)) {
			this.dialect.setKey(statement, 1, id);
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next();
			}
		}
	}

	static long answer(Statement statement) throws SQLException {
		try (ResultSet rs = statement.getGeneratedKeys()) {
			if (!rs.next()) {
				throw new SQLException("The driver does not tell the epoch that was written");
			}
			return rs.getLong(1);
		}
	}

}
