package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * Proves that a database locks rows as its dialect says. Some speak the protocol of
 * another one, take its statements and lock nothing; some proxies send a locking read to
 * a replica. Two connections meet at a row of their own, which is gone afterwards if rows
 * may be deleted: one locks it by {@code FOR UPDATE}, then by the shared lock of the
 * commit check, and the other one must not find it, with {@code SKIP LOCKED}. Nothing
 * waits and no statement fails, as some drivers log each failure.
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
		this.connections.call((connection, rows) -> insert(connection, rows, key));
		try {
			this.connections.inTransaction((connection, rows) -> exclusive(connection, rows, key));
			this.connections.inTransaction((connection, rows) -> shared(connection, rows, key));
		}
		finally {
			if (deletable) {
				this.connections.call((connection, rows) -> delete(connection, rows, key));
			}
		}
	}

	/**
	 * Without this privilege the row stays and is used again.
	 */
	private boolean isDeletable() throws SQLException {
		try {
			return this.connections.call((connection, rows) -> {
				try (Statement statement = connection.createStatement()) {
					statement.executeUpdate(table("DELETE", rows) + " WHERE 1 = 0");
					return true;
				}
			});
		}
		catch (SQLException ex) {
			if (this.connections.is(ex, SqlDialect::isDenied)) {
				return false;
			}
			throw ex;
		}
	}

	private static String table(String verb, FenceRows rows) {
		return rows.findVersion().replaceFirst("^SELECT .*( FROM \\w+) .*$", verb + "$1");
	}

	private static boolean insert(Connection connection, FenceRows rows, String key) throws SQLException {
		try {
			return update(connection, rows, rows.insertVersion(), key);
		}
		catch (SQLException ex) {
			if (rows.dialect().isDuplicateKey(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private static boolean delete(Connection connection, FenceRows rows, String key) throws SQLException {
		return update(connection, rows, rows.findVersion().replaceFirst("^SELECT .* FROM", "DELETE FROM"), key);
	}

	private static boolean update(Connection connection, FenceRows rows, String sql, String key) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, PATIENCE)) {
			rows.setKey(statement, 1, key);
			return statement.executeUpdate() == 1;
		}
	}

	private boolean exclusive(Connection holder, FenceRows rows, String key) throws SQLException {
		String lock = rows.findVersion() + FOR_UPDATE;
		lock(holder, rows, lock, key);
		return this.connections.inTransaction((other, same) -> {
			skip(other, rows, lock, rows.findVersion() + SKIP_LOCKED, key);
			skip(other, rows, lock, rows.findVersion() + rows.dialect().shareLockOfUnlocked(), key);
			return true;
		});
	}

	private boolean shared(Connection holder, FenceRows rows, String key) throws SQLException {
		String lock = rows.findVersion() + rows.dialect().shareLock();
		lock(holder, rows, lock, key);
		return this.connections.inTransaction((other, same) -> {
			skip(other, rows, lock, rows.findVersion() + SKIP_LOCKED, key);
			return true;
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
