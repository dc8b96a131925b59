package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.DataSourceUtils;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.sql.SqlDialect;

/**
 * The rows by which a database tells, inside a transaction, whether a lease is still the
 * latest one of its key. Their epoch was raised before a later holder read anything, so a
 * transaction that finds its own epoch and owner, and keeps the row locked until it has
 * committed, cannot commit over a later holder.
 *
 * <p>
 * After Redis author S. Sanfilippo's reply to M. Kleppmann's "How to do distributed
 * locking": set the token first, then change data only while it is still the same.
 *
 * @since 0.1.0
 */
public sealed class Fence permits SessionFence {

	private static final Logger logger = LoggerFactory.getLogger(Fence.class);

	private static final FenceRows LOCK_TABLE = new FenceRows("holdfast_lock", null);

	/**
	 * Unless the transaction has a time-out of its own, which is checked here as well.
	 */
	static final int TIMEOUT_SECONDS = 10;

	private final Supplier<DataSource> dataSource;

	private final FenceRows rows;

	private final String select;

	private final String compare;

	private final String advance;

	private volatile @Nullable SqlDialect dialect;

	/**
	 * Create a fence on the lock table.
	 * @param dataSource supplies the database of the lock table
	 */
	public Fence(Supplier<DataSource> dataSource) {
		this(dataSource, LOCK_TABLE);
	}

	Fence(Supplier<DataSource> dataSource, FenceRows rows) {
		this.dataSource = dataSource;
		this.rows = rows;
		this.select = "SELECT 1 FROM " + rows.table() + " WHERE epoch = ? AND owner = ? AND " + rows.condition();
		String same = " WHERE epoch = ? AND version = ? AND " + rows.free() + " AND " + rows.condition();
		this.compare = "SELECT 1 FROM " + rows.table() + same;
		this.advance = "UPDATE " + rows.table() + " SET version = version + 1" + same;
	}

	FenceVersions versions() {
		return new FenceVersions(this.dataSource, this.rows);
	}

	DataSource dataSource() {
		return this.dataSource.get();
	}

	/**
	 * Whether this fence stands in every pool of its database.
	 */
	boolean spansPools() {
		return true;
	}

	/**
	 * Whether there is a row for each key, whose version optimistic locks compare.
	 * @return {@code false} for the locks of database sessions
	 */
	public boolean hasRows() {
		return true;
	}

	/**
	 * What it means that a lease is not held, as the end of a sentence.
	 */
	String lossDetail() {
		return CommitGuardLevel.FENCE.lossDetail();
	}

	/**
	 * Whether a connection, to whatever database, sees the row of a lease.
	 */
	boolean sees(Connection connection, LockLease lease) throws SQLException {
		SqlDialect dialect = SqlDialect.of(connection);
		try (PreparedStatement statement = connection.prepareStatement(this.select)) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			return finds(statement, dialect, lease);
		}
	}

	/**
	 * Check a lease inside a transaction, and keep later holders out until the
	 * transaction has ended.
	 * @param managed the DataSource of the transaction's manager
	 * @param lease the lease
	 * @param readOnly whether the transaction is declared read-only. If the database sees
	 * to it, the row is only read
	 * @return {@code false} if the lease has been superseded
	 */
	boolean holds(DataSource managed, LockLease lease, boolean readOnly) {
		return inTransaction(managed, lease, (connection) -> check(managed, connection, lease, readOnly));
	}

	/**
	 * Check inside a transaction that there was no commit of another one since a version
	 * was read, and replace the version.
	 * @param managed the DataSource of the transaction's manager
	 * @param lease the version
	 * @param readOnly whether the transaction must not change rows, as it changes no
	 * other data either
	 * @return {@code false} if there was another commit, or is one under way
	 */
	boolean isCurrent(DataSource managed, VersionLease lease, boolean readOnly) {
		return inTransaction(managed, lease, (connection) -> isCurrent(managed, connection, lease, readOnly));
	}

	/**
	 * Use the connection of the running transaction. One that Spring has to fetch for
	 * this is another one.
	 */
	static <T extends @Nullable Object> T inTransaction(DataSource managed, LockLease lease, Work<T> work) {
		Connection connection = DataSourceUtils.getConnection(managed);
		try {
			if (!DataSourceUtils.isConnectionTransactional(connection, managed) || connection.getAutoCommit()) {
				throw new IllegalStateException("The connection that Spring knows of is not that of the transaction, "
						+ "as it is in auto-commit mode. So the fence cannot be checked inside the transaction, "
						+ "which was rolled back. With JPA, the JpaDialect must expose the JDBC connection");
			}
			return work.on(connection);
		}
		catch (SQLException ex) {
			throw new LockBackendException(lease.key(),
					"the fence could not be read, so the transaction was rolled back", ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, managed);
		}
	}

	/**
	 * Check a lease on the connection of a transaction.
	 */
	boolean check(DataSource managed, Connection connection, LockLease lease, boolean readOnly) throws SQLException {
		SqlDialect dialect = dialect(connection);
		try {
			Boolean held = (readOnly && dialect.readOnly() != null) ? checkReadOnly(managed, connection, lease, dialect)
					: null;
			return (held != null) ? held : checkAndLock(managed, connection, lease, dialect);
		}
		catch (SQLException ex) {
			if (dialect.isConcurrencyFailure(ex)) {
				throw new LockLostException(lease.key(), "another holder has taken it since the "
						+ "transaction's snapshot. Or the database ended a deadlock on its row", ex);
			}
			throw ex;
		}
	}

	private boolean checkAndLock(DataSource managed, Connection connection, LockLease lease, SqlDialect dialect)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.select + dialect.shareLock())) {
			DataSourceUtils.applyTimeout(statement, managed, TIMEOUT_SECONDS);
			return finds(statement, dialect, lease);
		}
	}

	/**
	 * Check a lease without locking its row, where the transaction cannot write.
	 * @return whether it is held, or {@code null} if the transaction can write
	 */
	private @Nullable Boolean checkReadOnly(DataSource managed, Connection connection, LockLease lease,
			SqlDialect dialect) throws SQLException {
		String sql = this.select.replace("SELECT 1", "SELECT " + dialect.readOnly());
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			DataSourceUtils.applyTimeout(statement, managed, TIMEOUT_SECONDS);
			setParameters(statement, dialect, lease);
			try (ResultSet rs = statement.executeQuery()) {
				boolean held = rs.next();
				return (held && !rs.getBoolean(1)) ? null : held;
			}
		}
	}

	private boolean isCurrent(DataSource managed, Connection connection, VersionLease lease, boolean readOnly)
			throws SQLException {
		SqlDialect dialect = dialect(connection);
		try (PreparedStatement statement = connection.prepareStatement(readOnly ? this.compare : this.advance)) {
			long patience = lease.patience().toSeconds() + 1;
			DataSourceUtils.applyTimeout(statement, managed, (int) Math.min(patience, TIMEOUT_SECONDS));
			statement.setLong(1, lease.epoch());
			statement.setLong(2, lease.version());
			this.rows.setCondition(dialect, statement, 3, lease.key());
			if (!readOnly) {
				return statement.executeUpdate() == 1;
			}
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next();
			}
		}
		catch (SQLException ex) {
			if (dialect.isConcurrencyFailure(ex) || dialect.isTimeout(ex)) {
				logger.debug("A version was not compared, as another commit has the row locked", ex);
				return false;
			}
			throw ex;
		}
	}

	private boolean finds(PreparedStatement statement, SqlDialect dialect, LockLease lease) throws SQLException {
		setParameters(statement, dialect, lease);
		try (ResultSet rs = statement.executeQuery()) {
			return rs.next();
		}
	}

	private void setParameters(PreparedStatement statement, SqlDialect dialect, LockLease lease) throws SQLException {
		statement.setLong(1, lease.epoch());
		statement.setString(2, lease.owner());
		this.rows.setCondition(dialect, statement, 3, lease.key());
	}

	static void rollBack(DataSource managed) {
		Connection connection = DataSourceUtils.getConnection(managed);
		try {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
		}
		catch (SQLException ex) {
			logger.debug("A broken connection is rolled back by its database", ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, managed);
		}
	}

	private SqlDialect dialect(Connection connection) throws SQLException {
		SqlDialect dialect = this.dialect;
		if (dialect == null) {
			dialect = SqlDialect.of(connection);
			this.dialect = dialect;
		}
		return dialect;
	}

	/**
	 * A statement on the connection of a transaction.
	 */
	@FunctionalInterface
	interface Work<T extends @Nullable Object> {

		T on(Connection connection) throws SQLException;

	}

}
