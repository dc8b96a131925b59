package io.github.holdfast.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.store.LockKeys;
import org.jspecify.annotations.Nullable;

/**
 * All statements on the rows of {@code holdfast_lock}. Times are microseconds of the
 * database's clock. A key is free if {@code expires_at} is 0 or in the past.
 *
 * <p>
 * The statements were model-checked; {@code testing/spec} shows what is lost without each
 * of their parts. Each UPDATE changes a value, so it does not matter whether a driver
 * counts changed rows or found rows.
 */
public final class LockRows {

	private static final int MAX_KEY_BYTES = 255;

	private static final String UPDATE = "UPDATE holdfast_lock SET ";

	private static final String TAKE = UPDATE + "epoch = epoch + 1, owner = ? WHERE lock_key = ? AND expires_at = 0";

	private static final String RELEASE = UPDATE + "owner = NULL, expires_at = 0 WHERE lock_key = ? AND owner = ?";

	private static final String EVICT = UPDATE + "owner = NULL, expires_at = 0 WHERE lock_key = ?";

	private static final String CHECK = "SELECT 1 FROM holdfast_lock WHERE ";

	private static final String ADVANCE = UPDATE + "epoch = epoch + 1 WHERE lock_key = ? AND epoch = ?";

	private static final String FIND_EPOCH = "SELECT epoch FROM holdfast_lock WHERE lock_key = ?";

	private static final String SKIP_LOCKED = FIND_EPOCH + " FOR UPDATE SKIP LOCKED";

	private static final String DELETE = "DELETE FROM holdfast_lock WHERE lock_key = ?";

	private static final String COLUMNS = "lock_key, epoch, owner, holder, expires_at";

	private final SqlDialect dialect;

	private final String takeLease;

	private final String expire;

	private final String renew;

	private final String fence;

	private final String find;

	private final String insert;

	private final String insertToken;

	private final String evictToken;

	private final String purge;

	LockRows(SqlDialect dialect) {
		this.dialect = dialect;
		String now = dialect.now();
		boolean answers = dialect == SqlDialect.MYSQL;
		this.takeLease = UPDATE + "epoch = " + (answers ? "last_insert_id(epoch + 1)" : "epoch + 1")
				+ ", owner = ?, holder = ?, expires_at = " + now
				+ " + ? WHERE lock_key = ? AND (expires_at = 0 OR expires_at <= " + now + ")"
				+ ((dialect == SqlDialect.POSTGRESQL) ? " RETURNING epoch" : "");
		this.expire = UPDATE + "owner = NULL, expires_at = 0 WHERE lock_key = ? AND expires_at > 0 AND expires_at <= "
				+ now;
		this.renew = UPDATE + "expires_at = " + now + " + ? WHERE lock_key = ? AND owner = ?";
		this.fence = UPDATE + "epoch = ?, owner = ?, expires_at = " + now
				+ " WHERE lock_key = ? AND (epoch < ? OR epoch = ? AND owner = ?)";
		this.find = "SELECT epoch, owner, holder, expires_at, " + now + " FROM holdfast_lock WHERE lock_key = ?";
		this.insert = dialect.insert(COLUMNS, "?, " + now + ", NULL, NULL, 0");
		this.evictToken = UPDATE + "epoch = ?, owner = NULL, expires_at = " + now
				+ " WHERE lock_key = ? AND epoch <= ?";
		this.purge = "SELECT lock_key FROM holdfast_lock WHERE lock_key > ? AND expires_at < " + now
				+ " - ? AND epoch < " + now + " - ? ORDER BY lock_key LIMIT ? FOR UPDATE SKIP LOCKED";
		this.insertToken = dialect.insert(COLUMNS, "?, 0, NULL, NULL, " + now);
	}

	/**
	 * The key of a row.
	 */
	static String id(String key) {
		return LockKeys.id(key, MAX_KEY_BYTES);
	}

	/**
	 * The dialect of the statements.
	 * @return the dialect
	 */
	public SqlDialect dialect() {
		return this.dialect;
	}

	/**
	 * TAKE by a transaction: its COMMIT is the release.
	 */
	boolean take(Connection connection, String id, long owner, long nanos) throws SQLException {
		return update(connection, TAKE, nanos, owner, id);
	}

	/**
	 * TAKE by a lease. On H2 in a transaction.
	 * @return the epoch, or {@code null} if the key is leased or missing
	 */
	@Nullable Long takeLease(Connection connection, String id, long owner, String holder, Duration lease, long nanos)
			throws SQLException {
		Object[] parameters = { owner, holder, micros(lease), id };
		return switch (this.dialect) {
			case POSTGRESQL -> number(connection, this.takeLease, nanos, parameters);
			case MYSQL -> takeAnswered(connection, nanos, parameters);
			case H2 -> update(connection, this.takeLease, nanos, parameters) ? epoch(connection, id, nanos) : null;
		};
	}

	/**
	 * The answer to the UPDATE has the epoch, as if it was a generated key.
	 */
	private @Nullable Long takeAnswered(Connection connection, long nanos, Object... parameters) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.takeLease,
				Statement.RETURN_GENERATED_KEYS)) {
			set(statement, this.takeLease, parameters);
			if (StatementDeadline.run(statement, nanos, statement::executeUpdate) == 0) {
				return null;
			}
			try (ResultSet keys = statement.getGeneratedKeys()) {
				return keys.next() ? keys.getLong(1) : null;
			}
		}
	}

	/**
	 * EXPIRE: ends a lease that has run out.
	 */
	boolean expire(Connection connection, String id, long nanos) throws SQLException {
		return update(connection, this.expire, nanos, id);
	}

	/**
	 * RENEW: extends a lease, and locks its row.
	 */
	boolean renew(Connection connection, String id, long owner, Duration lease, long nanos) throws SQLException {
		return update(connection, this.renew, nanos, micros(lease), id, owner);
	}

	/**
	 * RELEASE of a lease.
	 */
	boolean release(Connection connection, String id, long owner, long nanos) throws SQLException {
		return update(connection, RELEASE, nanos, id, owner);
	}

	/**
	 * FENCE, by the transaction of the holder or by itself. The time keeps the row from
	 * being purged.
	 */
	boolean fence(Connection connection, String id, long epoch, long owner, long nanos) throws SQLException {
		return update(connection, this.fence, nanos, epoch, owner, id, epoch, epoch, owner);
	}

	/**
	 * CHECK: whether the row still names an owner.
	 * @param epoch the epoch that it must have, or {@code null} for any
	 * @param hold how the row is held after that
	 */
	boolean check(Connection connection, String id, @Nullable Long epoch, long owner, Hold hold, long nanos)
			throws SQLException {
		String condition = "lock_key = ? AND owner = ?" + ((epoch != null) ? " AND epoch = ?" : "");
		Object[] parameters = (epoch != null) ? new Object[] { id, owner, epoch } : new Object[] { id, owner };
		return switch (hold) {
			case WRITTEN -> update(connection, UPDATE + "epoch = epoch WHERE " + condition, nanos, parameters);
			case LOCKED -> number(connection, CHECK + condition + " FOR UPDATE", nanos, parameters) != null;
			case OWN -> number(connection, CHECK + condition + " FOR UPDATE SKIP LOCKED", nanos, parameters) != null;
		};
	}

	/**
	 * ADVANCE: replaces the version of an optimistic call.
	 */
	boolean advance(Connection connection, String id, long epoch, long nanos) throws SQLException {
		return update(connection, ADVANCE, nanos, id, epoch);
	}

	/**
	 * EVICT by an operator.
	 */
	boolean evict(Connection connection, String id, long nanos) throws SQLException {
		return update(connection, EVICT, nanos, id);
	}

	/**
	 * EVICT in a row of another store: as if a later holder had been there.
	 */
	boolean evictToken(Connection connection, String id, long epoch, long nanos) throws SQLException {
		return update(connection, this.evictToken, nanos, epoch, id, epoch);
	}

	/**
	 * INSERT at the first use of a key. The caller looks whether the row is there then.
	 * @param token whether it is a row of another store
	 * @return whether it was not there
	 */
	boolean insert(Connection connection, String id, boolean token, long nanos) throws SQLException {
		try {
			return update(connection, token ? this.insertToken : this.insert, nanos, id);
		}
		catch (SQLException ex) {
			if (!this.dialect.isDuplicate(ex)) {
				throw ex;
			}
			return false;
		}
	}

	/**
	 * The epoch of a row that this transaction has locked.
	 */
	@Nullable Long epoch(Connection connection, String id, long nanos) throws SQLException {
		return number(connection, SKIP_LOCKED, nanos, id);
	}

	/**
	 * Locks a row. Waits for a transaction that has it.
	 */
	boolean lock(Connection connection, String id, long nanos) throws SQLException {
		return number(connection, FIND_EPOCH + " FOR UPDATE", nanos, id) != null;
	}

	/**
	 * Locks a row, unless another transaction has it.
	 */
	boolean lockUnlocked(Connection connection, String id, long nanos) throws SQLException {
		return number(connection, SKIP_LOCKED, nanos, id) != null;
	}

	/**
	 * PURGE: deletes a page of rows that are older than a while.
	 * @param after the last key of the page before, or an empty text
	 * @return the last key of this page, or {@code null} if it was the last one
	 */
	@Nullable String purge(Connection connection, String after, Duration age, int size) throws SQLException {
		long old = micros(age);
		List<Object> keys = new ArrayList<>();
		try (PreparedStatement page = prepare(connection, this.purge, after, old, old, (long) size);
				ResultSet rs = page.executeQuery()) {
			while (rs.next()) {
				keys.add(rs.getObject(1));
			}
		}
		try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
			for (Object key : keys) {
				delete.setObject(1, key);
				delete.executeUpdate();
			}
		}
		Object last = (keys.size() < size) ? null : keys.get(size - 1);
		return (last instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : (String) last;
	}

	/**
	 * FIND: what the row says.
	 */
	@Nullable Row find(Connection connection, String id, long nanos) throws SQLException {
		try (PreparedStatement statement = prepare(connection, this.find, id)) {
			return StatementDeadline.<@Nullable Row>run(statement, nanos, () -> {
				try (ResultSet rs = statement.executeQuery()) {
					return rs.next() ? new Row(rs.getLong(1), (rs.getString(2) != null) ? rs.getLong(2) : null,
							rs.getString(3), rs.getLong(4), rs.getLong(5)) : null;
				}
			});
		}
	}

	private boolean update(Connection connection, String sql, long nanos, Object... parameters) throws SQLException {
		try (PreparedStatement statement = prepare(connection, sql, parameters)) {
			return StatementDeadline.run(statement, nanos, statement::executeUpdate) == 1;
		}
	}

	private @Nullable Long number(Connection connection, String sql, long nanos, Object... parameters)
			throws SQLException {
		try (PreparedStatement statement = prepare(connection, sql, parameters)) {
			return StatementDeadline.<@Nullable Long>run(statement, nanos, () -> {
				try (ResultSet rs = statement.executeQuery()) {
					return rs.next() ? rs.getLong(1) : null;
				}
			});
		}
	}

	/**
	 * The only texts among the parameters are the key and, before it, the holder.
	 */
	private PreparedStatement prepare(Connection connection, String sql, Object... parameters) throws SQLException {
		PreparedStatement statement = connection.prepareStatement(sql);
		set(statement, sql, parameters);
		return statement;
	}

	private void set(PreparedStatement statement, String sql, Object... parameters) throws SQLException {
		for (int i = 0; i < parameters.length; i++) {
			if (parameters[i] instanceof Long number) {
				statement.setLong(i + 1, number);
			}
			else if (sql == this.takeLease && i == 1) {
				statement.setString(i + 1, "%.255s".formatted(parameters[i]));
			}
			else {
				this.dialect.setKey(statement, i + 1, (String) parameters[i]);
			}
		}
	}

	private static long micros(Duration duration) {
		return TimeUnit.MICROSECONDS.convert(duration);
	}

	/**
	 * What a CHECK does with the row.
	 */
	public enum Hold {

		/**
		 * Written without a new value. Inside a snapshot, the database rejects a row that
		 * was written since, even by a transaction of the same holder.
		 */
		WRITTEN,

		/** Locked. */
		LOCKED,

		/**
		 * Locked already, or else not waited for. A plain read would open the read view
		 * of InnoDB, before an inner transaction has committed.
		 */
		OWN;

		/**
		 * How a transaction must hold the row of a lease.
		 * @param snapshot whether it reads from a snapshot that its first statement
		 * begins
		 * @return how
		 */
		public static Hold of(boolean snapshot) {
			return snapshot ? WRITTEN : LOCKED;
		}

	}

	/**
	 * A row as it was when it was read.
	 *
	 * @param epoch the number of the last grant
	 * @param owner the owner, or {@code null} after a release
	 * @param holder who the owner is, for messages
	 * @param expiresAt when the lease runs out, or 0 for no lease
	 * @param now the clock of the database
	 */
	record Row(long epoch, @Nullable Long owner, @Nullable String holder, long expiresAt, long now) {

		boolean isLeased() {
			return this.expiresAt > this.now;
		}

		boolean hasRunOut() {
			return this.expiresAt > 0 && !isLeased();
		}

	}

}
