package io.github.holdfast.transaction;

import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.support.LockKeys;

/**
 * Where a database keeps the epochs by which commits are checked.
 *
 * @param table the name of the table
 * @param source the store whose locks the rows are about, or {@code null} if the table is
 * the store
 */
record FenceRows(String table, @Nullable String source) {

	/**
	 * The condition that selects the row of a lock.
	 */
	String condition() {
		return (this.source != null) ? "lock_key = ? AND source = ?" : "lock_key = ?";
	}

	/**
	 * The condition that a row names no exclusive holder.
	 */
	String free() {
		return (this.source != null) ? "owner = ''" : "owner IS NULL";
	}

	/**
	 * The statement that inserts a row without a holder, with the parameters of the
	 * condition. Its version begins with the clock, so that it is another one than those
	 * of a row that was deleted; epochs of stores may be smaller than the clock.
	 */
	String insertFree(SqlDialect dialect) {
		String insert = (this.source != null)
				? "INSERT INTO holdfast_fence (lock_key, source, epoch, owner, version) VALUES (?, ?, 0, '', {now})"
				: "INSERT INTO holdfast_lock (lock_key, epoch, acquired_at, expires_at, version) "
						+ "VALUES (?, {now}, {now}, {now}, {now})";
		return insert.replace("{now}", dialect.now()) + dialect.ignoreDuplicate();
	}

	/**
	 * Set the parameters of the condition.
	 */
	void setCondition(SqlDialect dialect, PreparedStatement statement, int index, String key) throws SQLException {
		dialect.setKey(statement, index, LockKeys.id(key, SqlDialect.MAX_KEY_BYTES));
		if (this.source != null) {
			dialect.setKey(statement, index + 1, this.source);
		}
	}

}
