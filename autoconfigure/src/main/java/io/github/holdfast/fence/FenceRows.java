package io.github.holdfast.fence;

import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.sql.SqlDialect;

/**
 * The table in which a database keeps the epochs and versions by which commits are
 * checked: its statements, in the words of one database.
 *
 * @since 0.2.0
 */
public interface FenceRows {

	/**
	 * The dialect of the statements.
	 * @return the dialect
	 */
	SqlDialect dialect();

	/**
	 * Set the parameters that select the row of a lock.
	 * @param statement the statement
	 * @param index the index of the first one
	 * @param key the key of the lock
	 * @throws SQLException if the driver fails
	 */
	void setKey(PreparedStatement statement, int index, String key) throws SQLException;

	/**
	 * The query that finds the row of a lock only if it names one holder, with epoch,
	 * owner and the key as parameters.
	 * @param result the expression that it answers
	 * @return the query, to which a lock clause can be appended
	 */
	String ofHolder(String result);

	/**
	 * Set the parameters of a statement that finds the row of one holder.
	 * @param statement the statement
	 * @param lease the holder's lease
	 * @throws SQLException if the driver fails
	 */
	default void setHolder(PreparedStatement statement, LockLease lease) throws SQLException {
		statement.setLong(1, lease.epoch());
		statement.setString(2, lease.owner());
		setKey(statement, 3, lease.key());
	}

	/**
	 * The query for epoch, version and owner of a lock.
	 * @return the query, with the key as parameters
	 */
	String findVersion();

	/**
	 * The statement that inserts a row without a holder. Its version begins with the
	 * clock, so that it is another one than those of a row that was deleted; epochs of
	 * stores may be smaller than the clock.
	 * @return the statement, with the key as parameters
	 */
	String insertVersion();

	/**
	 * The query that finds a row without a holder only if it has one epoch and version.
	 * @return the query, with the parameters of {@link #setVersion}
	 */
	String compareVersion();

	/**
	 * The statement that raises the version of a row without a holder only if it has one
	 * epoch and version.
	 * @return the statement, with the parameters of {@link #setVersion}
	 */
	String raiseVersion();

	/**
	 * Set the parameters of a statement that finds a row by its version.
	 * @param statement the statement
	 * @param epoch the epoch
	 * @param version the version
	 * @param key the key of the lock
	 * @throws SQLException if the driver fails
	 */
	default void setVersion(PreparedStatement statement, long epoch, long version, String key) throws SQLException {
		statement.setLong(1, epoch);
		statement.setLong(2, version);
		setKey(statement, 3, key);
	}

	/**
	 * The statement that removes an exclusive holder from its row, so that it cannot
	 * commit any more and does not stand for later ones.
	 * @return the statement, with epoch, owner and the key as parameters, or {@code null}
	 * if the release of the lock does that
	 */
	@Nullable String removeHolder();

	/**
	 * The statement that releases the lock of a holder, if its row is the lock itself.
	 * @return the statement, with epoch, owner and the key as parameters, or {@code null}
	 * if the lock is elsewhere
	 */
	@Nullable String releaseHolder();

}
