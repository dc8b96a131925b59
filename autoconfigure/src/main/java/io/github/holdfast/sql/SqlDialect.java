package io.github.holdfast.sql;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.core.LockConfigurationException;

/**
 * What differs between the databases that can hold locks.
 *
 * @since 0.2.0
 */
public enum SqlDialect {

	/** PostgreSQL 9.6 or later. */
	POSTGRESQL(Set.of("PostgreSQL"), "(extract(epoch from clock_timestamp()) * 1000000)::bigint", " FOR SHARE",
			Set.of("40001", "40P01", "55P03"), Set.of("23505"), Set.of("57014"), Set.of("42501")) {

		@Override
		public void setKey(PreparedStatement statement, int index, String id) throws SQLException {
			statement.setString(index, id);
		}

		/**
		 * Refuses to lock rows there, and then aborts the transaction.
		 */
		@Override
		public @Nullable String readOnly() {
			return "current_setting('transaction_read_only') = 'on'";
		}

		/**
		 * A duplicate key would abort the transaction.
		 */
		@Override
		public String ignoreDuplicate() {
			return " ON CONFLICT DO NOTHING";
		}

		@Override
		public String upsert(String table, String key, List<String> columns, String query) {
			return insert(table, key, columns) + " " + query + " ON CONFLICT (" + key + ") DO UPDATE SET "
					+ assignments(columns, "%1$s = excluded.%1$s");
		}

		@Override
		public String updateUnlocked(String table, String key, String assignments, String condition) {
			return updateSkippingLocked(table, key, assignments, condition);
		}

		/**
		 * An update computes its values before it waits, and again only if the row has
		 * changed meanwhile: its clock would be that of the arrival.
		 */
		@Override
		public String updateAwaitingLocked(String table, String key, String assignments, String condition) {
			return updateLocked(table, key, assignments, condition + " FOR UPDATE");
		}

		/**
		 * Its driver is told of each name that the session gets, and a name that a
		 * transaction sets ends with it.
		 */
		@Override
		public String marking() {
			return "? || left(set_config('application_name', coalesce(?, current_setting('application_name')), true), 0)";
		}

		@Override
		public int setMarking(PreparedStatement statement, int index, String text) throws SQLException {
			statement.setString(index, text);
			statement.setString(index + 1, OpenTransaction.mark(statement.getConnection()));
			return index + 2;
		}

		/**
		 * Ends the session of a transaction that idles for too long, unless the
		 * application has set such a time itself.
		 */
		@Override
		public String holder() {
			return marking() + " || left(CASE current_setting('idle_in_transaction_session_timeout') WHEN '0' "
					+ "THEN set_config('idle_in_transaction_session_timeout', ?, true) ELSE '' END, 0)";
		}

		@Override
		public boolean limitsIdleTransactions() {
			return true;
		}

		@Override
		public String andIdleLimit() {
			return ", set_config('idle_in_transaction_session_timeout', ?, true)";
		}

		@Override
		public String limitIdle(Duration limit) {
			return "SELECT set_config('idle_in_transaction_session_timeout', '" + idleMillis(limit) + "', true)";
		}

		/**
		 * Its end does.
		 */
		@Override
		public @Nullable String unlimitIdle() {
			return null;
		}

		@Override
		public String andReadsAreFresh() {
			return " AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')";
		}

		@Override
		String code(SQLException ex) {
			return String.valueOf(ex.getSQLState());
		}

	},

	/** MariaDB 10.6 or later. */
	MARIADB(Set.of("MariaDB"), "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))",
			" LOCK IN SHARE MODE", Set.of("1205", "1213", "1020", "3572"), Set.of("1062"),
			Set.of("1317", "1969", "3024"), Set.of("1142", "1143")) {

		/**
		 * MySQL takes the first part for a comment.
		 */
		@Override
		public String updateUnlocked(String table, String key, String assignments, String condition) {
			return "/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ "
					+ super.updateUnlocked(table, key, assignments, condition);
		}

		/**
		 * Versions before know no such setting, or do not say by their number whether
		 * they do.
		 */
		@Override
		public String lookingAtNow(String sql) {
			return "/*M!110402 SET STATEMENT innodb_snapshot_isolation = OFF FOR */ " + sql;
		}

		@Override
		public String shareLockOfUnlocked() {
			return " /*M! LOCK IN SHARE MODE SKIP LOCKED */ /*!80000 FOR SHARE SKIP LOCKED */";
		}

		@Override
		public String waitingForASecond(String sql) {
			return "/*M! SET STATEMENT innodb_lock_wait_timeout = 1 FOR */ " + sql;
		}

		@Override
		public String answered(String value) {
			return "last_insert_id(" + value + ")";
		}

		@Override
		public String holder() {
			return "concat(?, ' ', connection_id())";
		}

		/**
		 * What the uncommitted row says, also of one that is to be left to callbacks, and
		 * how long its session has done nothing. One that has done nothing since the look
		 * at the committed row has not committed since. MySQL may count up to a second
		 * more.
		 */
		@Override
		public String idleHolder() {
			return """
					SELECT concat('KILL ', p.id) FROM holdfast_lock l JOIN information_schema.processlist p
					ON p.id = substring_index(l.holder, ' ', -1) WHERE l.lock_key = ? AND l.epoch > ?
					AND (l.owner IS NULL OR {owner} = left({holder}, 36))
					AND p.command = 'Sleep' AND p.time * 1000000 >= l.expires_at - l.acquired_at
					AND {now} - (p.time - 1) * 1000000 < ?""".replace("{now}", now())
				.replace("{owner}", comparable("l.owner"))
				.replace("{holder}", comparable("l.holder"));
		}

		/**
		 * The collation of a database is not that of its character set.
		 */
		@Override
		public String comparable(String column) {
			return "cast(" + column + " AS binary)";
		}

	},

	/** MySQL 8.0 or later, and MariaDB through the driver of MySQL. */
	MYSQL(Set.of("MySQL"), MARIADB) {

		/**
		 * MySQL itself waits for the row.
		 */
		@Override
		public String updateUnlocked(String table, String key, String assignments, String condition) {
			return MARIADB.updateUnlocked(table, key, assignments, condition);
		}

		/**
		 * MySQL reads no table that it updates.
		 */
		@Override
		public String updateSkippingLocked(String table, String key, String assignments, String condition) {
			return updateUnlocked(table, key, assignments, condition);
		}

		@Override
		public boolean skipsLocked() {
			return false;
		}

		@Override
		public String shareLockOfUnlocked() {
			return MARIADB.shareLockOfUnlocked();
		}

		@Override
		public String answered(String value) {
			return MARIADB.answered(value);
		}

		@Override
		public String holder() {
			return MARIADB.holder();
		}

		@Override
		public @Nullable String idleHolder() {
			return MARIADB.idleHolder();
		}

		@Override
		public String comparable(String column) {
			return MARIADB.comparable(column);
		}

	},

	/** H2 2.2.220 or later. It has no shared row locks. */
	H2(Set.of("H2"), "cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)", " FOR UPDATE",
			Set.of("40001", "50200", "90131"), Set.of("23505"), Set.of("57014"), Set.of("90096")) {

		@Override
		public boolean sharesRowLocks() {
			return false;
		}

		@Override
		public boolean cancelsWaits() {
			return false;
		}

		@Override
		public String upsert(String table, String key, List<String> columns, String query) {
			return "MERGE INTO " + table + " (" + key + ", " + String.join(", ", columns) + ") KEY (" + key + ") "
					+ query;
		}

		@Override
		public String andReadsAreFresh() {
			return " AND (SELECT isolation_level FROM information_schema.sessions "
					+ "WHERE session_id = session_id()) = 'READ COMMITTED'";
		}

	};

	/** The longest id of a lock, in bytes of UTF-8. */
	public static final int MAX_KEY_BYTES = 255;

	private final Set<String> products;

	private final String now;

	private final String shareLock;

	private final Set<String> transientCodes;

	private final Set<String> duplicateCodes;

	private final Set<String> timeoutCodes;

	private final Set<String> deniedCodes;

	SqlDialect(Set<String> products, String now, String shareLock, Set<String> transientCodes,
			Set<String> duplicateCodes, Set<String> timeoutCodes, Set<String> deniedCodes) {
		this.products = products;
		this.now = now;
		this.shareLock = shareLock;
		this.transientCodes = transientCodes;
		this.duplicateCodes = duplicateCodes;
		this.timeoutCodes = timeoutCodes;
		this.deniedCodes = deniedCodes;
	}

	SqlDialect(Set<String> products, SqlDialect like) {
		this(products, like.now, like.shareLock, like.transientCodes, like.duplicateCodes, like.timeoutCodes,
				like.deniedCodes);
	}

	/**
	 * The dialect of the database behind a connection.
	 * @param connection the connection
	 * @return the dialect
	 * @throws SQLException if the driver fails
	 * @throws LockConfigurationException if the database is not supported
	 */
	public static SqlDialect of(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		for (SqlDialect dialect : values()) {
			if (dialect.products.contains(product)) {
				return dialect;
			}
		}
		throw new LockConfigurationException("The database '" + product + "' cannot hold locks.",
				"Use PostgreSQL, MySQL, MariaDB or H2, or choose another backend with 'holdfast.backend'.");
	}

	/**
	 * The database's clock in microseconds since 1970, independent of time zones.
	 * @return an SQL expression
	 */
	public String now() {
		return this.now;
	}

	/**
	 * What to append to a SELECT by primary key, so that others cannot change the row
	 * until the transaction ends.
	 * @return the clause with a leading blank
	 */
	public String shareLock() {
		return this.shareLock;
	}

	/**
	 * Whether several transactions can have the same row locked in share mode.
	 * @return {@code false} if such a lock excludes others of its kind
	 */
	public boolean sharesRowLocks() {
		return true;
	}

	/**
	 * A statement that locks rows as they are now, where that is possible also if they
	 * have changed since the snapshot of the transaction. It has to compare them.
	 * @param sql the statement
	 * @return the statement
	 */
	public String lookingAtNow(String sql) {
		return sql;
	}

	/**
	 * The same, but a row that another transaction has locked for a change is not found.
	 * @return the clause with a leading blank
	 */
	public String shareLockOfUnlocked() {
		return this.shareLock + " SKIP LOCKED";
	}

	/**
	 * Whether the current transaction is one in which the database refuses to change or
	 * lock rows. The driver does not know, as it may be set not to tell the database what
	 * it was told.
	 * @return an SQL expression, or {@code null} if rows can be locked in all
	 * transactions
	 */
	public @Nullable String readOnly() {
		return null;
	}

	/**
	 * What to append to an INSERT so that it inserts nothing when the row exists.
	 * @return the clause with a leading blank, or an empty text where a duplicate key is
	 * reported instead
	 */
	public String ignoreDuplicate() {
		return "";
	}

	/**
	 * A statement that inserts what a query finds, or updates the rows that have the same
	 * key.
	 * @param table the table
	 * @param key the column of its primary key, the first one of the query
	 * @param columns the other columns, in the order of the query
	 * @param query the query, possibly with a lock clause
	 * @return the statement, with the parameters of the query
	 */
	public String upsert(String table, String key, List<String> columns, String query) {
		return insert(table, key, columns) + " " + query + " ON DUPLICATE KEY UPDATE "
				+ assignments(columns, "%1$s = VALUES(%1$s)");
	}

	/**
	 * An UPDATE of a row by its primary key that does not wait for another transaction
	 * that has it locked, or not for long: it changes nothing then, or fails.
	 * @param table the table
	 * @param key the column of its primary key, of which other columns have to be
	 * compared behind the statement
	 * @param assignments what to set
	 * @param condition which row
	 * @return the statement, with the parameters of the assignments and the condition
	 */
	public String updateUnlocked(String table, String key, String assignments, String condition) {
		return "UPDATE " + table + " SET " + assignments + " WHERE " + condition;
	}

	/**
	 * An UPDATE of a row by its primary key that changes nothing if another transaction
	 * has it locked, where {@link #skipsLocked()}.
	 * @param table the table
	 * @param key the column of its primary key
	 * @param assignments what to set
	 * @param condition which row
	 * @return the statement, with the parameters of the assignments and the condition
	 */
	public String updateSkippingLocked(String table, String key, String assignments, String condition) {
		return updateLocked(table, key, assignments, condition + " FOR UPDATE SKIP LOCKED");
	}

	private static String updateLocked(String table, String key, String assignments, String lock) {
		return "UPDATE " + table + " SET " + assignments + " WHERE " + key + " = (SELECT " + key + " FROM " + table
				+ " WHERE " + lock + ")";
	}

	/**
	 * An update of one row that waits for whoever has it locked. Its clock is not older
	 * than the end of that one, but on MariaDB and MySQL than the beginning of the wait.
	 * @param table the table
	 * @param key the column of its primary key
	 * @param assignments what to set
	 * @param condition which row
	 * @return the statement, with the parameters of the assignments and the condition
	 */
	public String updateAwaitingLocked(String table, String key, String assignments, String condition) {
		return "UPDATE " + table + " SET " + assignments + " WHERE " + condition;
	}

	/**
	 * Whether {@link #updateSkippingLocked} never waits.
	 * @return {@code false} if it may wait for as long as others have the row locked
	 */
	public boolean skipsLocked() {
		return true;
	}

	/**
	 * A statement that waits for a row no longer than a second, and fails then.
	 * @param sql the statement
	 * @return the statement, or {@code null} if it would have to be cancelled
	 */
	public @Nullable String waitingForASecond(String sql) {
		return null;
	}

	/**
	 * Whether the rows that a transaction has locked are free before its commit is on the
	 * disk, as with InnoDB.
	 * @return {@code false} if they are free after it
	 */
	public boolean freesRowsEarly() {
		return this == MARIADB || this == MYSQL;
	}

	/**
	 * Whether a statement that waits for a row can be cancelled.
	 * @return {@code false} if only a setting of the database ends the wait
	 */
	public boolean cancelsWaits() {
		return true;
	}

	/**
	 * What to set a column to, so that the driver tells its new value as the generated
	 * key of the update.
	 * @param value an expression for the value, which is not 0
	 * @return the expression to set the column to
	 */
	public String answered(String value) {
		return value;
	}

	/**
	 * A text for the row that a transaction claims, which marks the transaction as well,
	 * see {@link OpenTransaction#marked}, if the driver can tell its end.
	 * @return an expression with the parameters of {@link #setMarking}
	 */
	public String marking() {
		return "?";
	}

	/**
	 * Set the parameters of {@link #marking()}.
	 * @param statement the statement, of the connection of the transaction
	 * @param index that of the first parameter
	 * @param text the text
	 * @return the index of the next parameter
	 * @throws SQLException if the driver fails
	 */
	public int setMarking(PreparedStatement statement, int index, String text) throws SQLException {
		statement.setString(index, text);
		return index + 1;
	}

	/**
	 * What to set the holder of a row to that a business transaction locks: a text, and
	 * what others need to end that transaction when it idles for too long.
	 * @return a {@link #marking()}, with the time in milliseconds, as a text, as another
	 * parameter if the database {@link #limitsIdleTransactions()}
	 */
	public String holder() {
		return marking();
	}

	/**
	 * Whether the database itself ends the session of a transaction that idles for too
	 * long, once {@link #holder()} has been written.
	 * @return {@code false} if others have to
	 */
	public boolean limitsIdleTransactions() {
		return false;
	}

	/**
	 * What to select besides, so that the database ends the session of the transaction
	 * when that idles for too long.
	 * @return an expression after a comma, with the time in milliseconds, as a text, as
	 * its parameter, or an empty text unless it {@link #limitsIdleTransactions()}
	 */
	public String andIdleLimit() {
		return "";
	}

	/**
	 * A statement that lets the database end the session of a connection of our own, in
	 * its transaction, when that idles for too long.
	 * @param limit how long it may idle
	 * @return the statement, which may be repeated
	 */
	public String limitIdle(Duration limit) {
		return "SET @holdfast_wait_timeout = cast(coalesce(@holdfast_wait_timeout, @@SESSION.wait_timeout) AS unsigned), "
				+ "SESSION wait_timeout = " + Math.max(1, Math.min(limit.plusMillis(999).toSeconds(), 31_536_000));
	}

	/**
	 * A statement that takes {@link #limitIdle} back.
	 * @return the statement, or {@code null} if the end of the transaction does so
	 */
	public @Nullable String unlimitIdle() {
		return "SET SESSION wait_timeout = cast(@holdfast_wait_timeout AS unsigned), @holdfast_wait_timeout = NULL";
	}

	/**
	 * A time as a limit for an idle transaction.
	 * @param limit the time
	 * @return the milliseconds
	 */
	public static String idleMillis(Duration limit) {
		return String.valueOf(Math.min(limit.toMillis(), Integer.MAX_VALUE));
	}

	/**
	 * The query for a statement that ends the session of the transaction which has a row
	 * locked, if that has idled for longer than its lease time.
	 * @return the query, for a transaction at READ UNCOMMITTED, with the key, the
	 * committed epoch and the time before it was read as parameters, or {@code null} if
	 * the database does that itself
	 */
	public @Nullable String idleHolder() {
		return null;
	}

	/**
	 * A column of ASCII, so that it can be compared with any other one, whatever
	 * collations they have.
	 * @param column the column
	 * @return an expression
	 */
	public String comparable(String column) {
		return column;
	}

	/**
	 * A condition that holds in transactions whose reads see everything that was
	 * committed before their first statement had an answer. Where the snapshot of a
	 * transaction is made by its first read, which an update is not, it always holds.
	 * @return the condition with a leading AND, or an empty text if it always holds
	 */
	public String andReadsAreFresh() {
		return "";
	}

	private static String insert(String table, String key, List<String> columns) {
		return "INSERT INTO " + table + " (" + key + ", " + String.join(", ", columns) + ")";
	}

	private static String assignments(List<String> columns, String format) {
		return columns.stream().map(format::formatted).collect(Collectors.joining(", "));
	}

	/**
	 * Set the id of a lock, in the type that compares byte by byte.
	 * @param statement the statement
	 * @param index the index of the parameter
	 * @param id the id
	 * @throws SQLException if the driver fails
	 */
	public void setKey(PreparedStatement statement, int index, String id) throws SQLException {
		statement.setBytes(index, id.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Whether a statement failed only because of others that ran at the same time, so
	 * that it can be tried again.
	 * @param ex the failure
	 * @return {@code true} for deadlock victims, serialization failures and locked rows
	 */
	public boolean isConcurrencyFailure(SQLException ex) {
		return this.transientCodes.contains(code(ex));
	}

	/**
	 * Whether an insert failed because the row exists.
	 * @param ex the failure
	 * @return {@code true} for a duplicate key
	 */
	public boolean isDuplicateKey(SQLException ex) {
		return this.duplicateCodes.contains(code(ex));
	}

	/**
	 * Whether a statement was cancelled because it took too long.
	 * @param ex the failure
	 * @return {@code true} for a time-out
	 */
	public boolean isTimeout(SQLException ex) {
		return ex instanceof SQLTimeoutException || this.timeoutCodes.contains(code(ex));
	}

	/**
	 * Whether a statement failed because the user lacks a privilege.
	 * @param ex the failure
	 * @return {@code true} if a privilege is missing
	 */
	public boolean isDenied(SQLException ex) {
		return this.deniedCodes.contains(code(ex));
	}

	/**
	 * Whether what {@link #idleHolder()} says failed because the session has ended.
	 * @param ex the failure
	 * @return {@code true} if there is nothing to be ended any more
	 */
	public boolean isSessionGone(SQLException ex) {
		return "1094".equals(code(ex));
	}

	String code(SQLException ex) {
		return String.valueOf(ex.getErrorCode());
	}

}
