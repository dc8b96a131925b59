package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * Proves that a database locks rows as its dialect says. Some speak the protocol of
 * another one, take its statements and lock nothing; some proxies send a locking read to
 * a replica. Two connections meet at a row of their own, which is gone afterwards if rows
 * may be deleted: one locks it, by each clause that locks rely on, and the other one must
 * not find it, with {@code SKIP LOCKED}. Nothing waits and no statement fails, as some
 * drivers log each failure.
 *
 * @since 0.2.0
 */
public final class RowLockProof {

	static final String KEY = "holdfast:start";

	private static final String FOR_UPDATE = " FOR UPDATE";

	private static final String SKIP_LOCKED = FOR_UPDATE + " SKIP LOCKED";

	/** Of statements that do not wait. */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/**
	 * How long proofs of other nodes may have the row, where each of them has the same.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final LockConnections<FenceRows> connections;

	/**
	 * Create a proof.
	 * @param dataSource supplies the database
	 * @param fence has the table
	 */
	public RowLockProof(Supplier<DataSource> dataSource, RowFence fence) {
		this.connections = new LockConnections<>(dataSource, fence::rows);
	}

	/**
	 * Prove it, on two connections.
	 * @throws SQLException if a statement fails that should not
	 * @throws LockConfigurationException if it is not so
	 */
	public void run() throws SQLException {
		boolean deletable = isDeletable();
		String key = deletable ? KEY + ":" + UUID.randomUUID() : KEY;
		SqlDialect dialect = this.connections.dialect();
		String sharing = dialect.shareLockOfUnlocked();
		this.connections.retry(() -> insert(key));
		try {
			if (deletable) {
				prove(key, SKIP_LOCKED, SKIP_LOCKED, sharing);
				prove(key, sharing, SKIP_LOCKED);
			}
			prove(key, FOR_UPDATE, SKIP_LOCKED, sharing);
			prove(key, dialect.shareLock(), SKIP_LOCKED);
		}
		finally {
			if (deletable) {
				delete(key);
			}
		}
	}

	/**
	 * Without this privilege the row stays and is used again, also by others, so that it
	 * may have to be waited for.
	 */
	private boolean isDeletable() throws SQLException {
		try {
			delete(KEY + ":");
			return true;
		}
		catch (SQLException ex) {
			if (this.connections.is(ex, SqlDialect::isDenied)) {
				return false;
			}
			throw ex;
		}
	}

	private void delete(String key) throws SQLException {
		this.connections
			.retry(() -> update((rows) -> rows.findVersion().replaceFirst("^SELECT .* FROM", "DELETE FROM"), key));
	}

	private boolean insert(String key) throws SQLException {
		try {
			return update(FenceRows::insertVersion, key);
		}
		catch (SQLException ex) {
			if (this.connections.is(ex, SqlDialect::isDuplicateKey)) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * On PostgreSQL at READ COMMITTED: at SERIALIZABLE, nodes that start together refuse
	 * each other's changes of a small table, more often than is tried again.
	 */
	private boolean update(Function<FenceRows, String> sql, String key) throws SQLException {
		LockConnections.Work<FenceRows, Boolean> work = (connection, rows) -> {
			try (PreparedStatement statement = LockConnections.prepare(connection, sql.apply(rows), PATIENCE)) {
				rows.setKey(statement, 1, key);
				return statement.executeUpdate() == 1;
			}
		};
		return (this.connections.dialect() == SqlDialect.POSTGRESQL) ? this.connections.inTransaction(work)
				: this.connections.call(work);
	}

	/**
	 * Prove that a clause locks a row, so that others do not find it.
	 */
	private void prove(String key, String lock, String... others) throws SQLException {
		this.connections.inTransaction((holder, rows) -> {
			String sql = rows.findVersion() + lock;
			lock(holder, rows, sql, key);
			return this.connections.inTransaction((other, same) -> {
				for (String clause : others) {
					skip(other, rows, sql, rows.findVersion() + clause, key);
				}
				return true;
			});
		});
	}

	private static void lock(Connection holder, FenceRows rows, String sql, String key) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(holder, sql, PATIENCE)) {
			if (!finds(statement, rows, key)) {
				throw failed(holder, sql, "did not find a row that was committed just before");
			}
		}
	}

	/**
	 * Ask for the row of another transaction, at once.
	 */
	private static void skip(Connection other, FenceRows rows, String lock, String sql, String key)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(other, sql, TIMEOUT)) {
			if (!finds(statement, rows, key)) {
				return;
			}
		}
		catch (SQLException ex) {
			if (rows.dialect().isTimeout(ex) || rows.dialect().isConcurrencyFailure(ex)) {
				other.rollback();
				throw failed(other, sql,
						"waited for a row that another transaction has locked, instead of skipping it");
			}
			throw ex;
		}
		throw failed(other, lock, "locked nothing: another transaction got the same row by '" + sql + "'");
	}

	private static boolean finds(PreparedStatement statement, FenceRows rows, String key) throws SQLException {
		rows.setKey(statement, 1, key);
		try (ResultSet rs = statement.executeQuery()) {
			return rs.next();
		}
	}

	private static LockConfigurationException failed(Connection connection, String sql, String what)
			throws SQLException {
		return new LockConfigurationException(
				"The database does not lock rows as locks need it: '" + sql.strip() + "' " + what
						+ ". It says that it is " + connection.getMetaData().getDatabaseProductName() + " "
						+ version(connection) + ".",
				"Use a database that docs/jdbc.md lists, and connect to the server that takes the writes, without a "
						+ "proxy that sends reads elsewhere. With 'holdfast.database.check-row-locks: false' the "
						+ "application starts, and two holders of a lock may commit.");
	}

	/**
	 * What the server tells, as its driver may tell what it stands for.
	 */
	private static String version(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet rs = statement.executeQuery("SELECT version()")) {
			rs.next();
			return rs.getString(1);
		}
		catch (SQLException ex) {
			return connection.getMetaData().getDatabaseProductVersion();
		}
	}

}
