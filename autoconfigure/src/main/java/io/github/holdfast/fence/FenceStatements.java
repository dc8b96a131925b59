package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.LockKeys;

/**
 * The statements on the table {@code holdfast_fence}, for the rows of one store. A row
 * that names nobody has an empty owner. Those that install a holder never wait for a
 * transaction of another one.
 */
final class FenceStatements implements FenceRows {

	static final String CHECK = "SELECT source, lock_key, epoch, owner, version FROM holdfast_fence WHERE 1 = 0";

	static final String CHECK_INSERT = """
			INSERT INTO holdfast_fence (source, lock_key, epoch, owner, version)
			SELECT source, lock_key, epoch, owner, version FROM holdfast_fence WHERE 1 = 0""";

	static final String CHECK_UPDATE = "UPDATE holdfast_fence SET epoch = epoch, owner = owner, version = version WHERE 1 = 0";

	private static final String KEY = "lock_key = ? AND source = ?";

	/** Behind a statement that finds the row by a part of its primary key. */
	private static final String AND_SOURCE = " AND source = ?";

	private static final String FIND = "SELECT epoch, owner FROM holdfast_fence WHERE " + KEY;

	private static final String LOCK = FIND + " FOR UPDATE SKIP LOCKED";

	private static final String UPDATE = "UPDATE holdfast_fence SET epoch = ?, owner = ? WHERE " + KEY;

	private static final String OLDER = KEY + " AND epoch < ?";

	private static final String INSERT = "INSERT INTO holdfast_fence (epoch, owner, version, lock_key, source) VALUES (?, ?, 0, ?, ?)";

	private static final String OF_HOLDER = " FROM holdfast_fence WHERE epoch = ? AND owner = ? AND " + KEY;

	/**
	 * Not over a later holder, and not over another one with the same epoch. An
	 * optimistic holder must see that there is an exclusive one, so a row without an
	 * owner does not do.
	 */
	private static final String CLAIMABLE = KEY + " AND owner <> '' AND (epoch < ? OR (epoch = ? AND owner = ?))";

	private static final String REMOVE_HOLDER = "UPDATE holdfast_fence SET owner = '' WHERE epoch = ? AND owner = ? AND "
			+ KEY;

	private static final String FIND_VERSION = "SELECT epoch, version, owner FROM holdfast_fence WHERE " + KEY;

	private static final String INSERT_VERSION = """
			INSERT INTO holdfast_fence (lock_key, source, epoch, owner, version)
			VALUES (?, ?, 0, '', {now})""";

	private static final String OF_VERSION = "epoch = ? AND version = ? AND owner = '' AND " + KEY;

	private static final String COMPARE_VERSION = "SELECT 1 FROM holdfast_fence WHERE " + OF_VERSION + AND_SOURCE;

	private final String source;

	private final SqlDialect dialect;

	private final String claim;

	private final String raiseVersion;

	FenceStatements(String source, SqlDialect dialect) {
		this.source = source;
		this.dialect = dialect;
		this.claim = dialect.updateUnlocked("holdfast_fence", "lock_key", "epoch = ?, owner = " + dialect.marking(),
				CLAIMABLE + dialect.andReadsAreFresh()) + AND_SOURCE;
		this.raiseVersion = dialect.updateUnlocked("holdfast_fence", "lock_key", "version = version + 1", OF_VERSION)
				+ AND_SOURCE;
	}

	@Nullable FenceEntry find(Connection connection, String key, Duration timeout) throws SQLException {
		return find(connection, FIND, key, timeout);
	}

	/**
	 * Find the row of a lock and lock it, unless another transaction has it locked.
	 */
	@Nullable FenceEntry lock(Connection connection, String key, Duration timeout) throws SQLException {
		return find(connection, LOCK, key, timeout);
	}

	private @Nullable FenceEntry find(Connection connection, String sql, String key, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			setKey(statement, 1, key);
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next() ? new FenceEntry(rs.getLong(1), rs.getString(2)) : null;
			}
		}
	}

	void update(Connection connection, String key, FenceEntry entry, Duration timeout) throws SQLException {
		write(connection, UPDATE, key, entry, timeout);
	}

	/**
	 * Write a lease, if the row is that of an earlier holder and not locked. Needs a
	 * database that updates without waiting.
	 */
	boolean updateOlder(Connection connection, LockLease lease, Duration timeout) throws SQLException {
		String sql = this.dialect.updateSkippingLocked("holdfast_fence", "lock_key", "epoch = ?, owner = ?", OLDER)
				+ AND_SOURCE;
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			statement.setLong(1, lease.epoch());
			statement.setString(2, lease.owner());
			setKey(statement, 3, lease.key());
			statement.setLong(5, lease.epoch());
			this.dialect.setKey(statement, 6, this.source);
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Insert the row of a lock. Fails with a duplicate key if another one was faster.
	 */
	void insert(Connection connection, String key, FenceEntry entry, Duration timeout) throws SQLException {
		write(connection, INSERT, key, entry, timeout);
	}

	private void write(Connection connection, String sql, String key, FenceEntry entry, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			statement.setLong(1, entry.epoch());
			statement.setString(2, entry.owner());
			setKey(statement, 3, key);
			statement.executeUpdate();
		}
	}

	/**
	 * The statement that writes a lease in the transaction of its holder, if the row is
	 * there and not locked, and if nothing that the transaction will read can be older
	 * than the statement.
	 */
	String claim() {
		return this.claim;
	}

	/**
	 * The query that finds something if a claim can find its row.
	 */
	String readsAreFresh() {
		return "SELECT 1" + this.dialect.andReadsAreFresh().replaceFirst("^ AND", " WHERE");
	}

	void setClaim(PreparedStatement statement, LockLease lease) throws SQLException {
		statement.setLong(1, lease.epoch());
		int index = this.dialect.setMarking(statement, 2, lease.owner());
		setKey(statement, index, lease.key());
		statement.setLong(index + 2, lease.epoch());
		statement.setLong(index + 3, lease.epoch());
		statement.setString(index + 4, lease.owner());
		this.dialect.setKey(statement, index + 5, this.source);
	}

	@Override
	public SqlDialect dialect() {
		return this.dialect;
	}

	@Override
	public void setKey(PreparedStatement statement, int index, String key) throws SQLException {
		this.dialect.setKey(statement, index, LockKeys.id(key, SqlDialect.MAX_KEY_BYTES));
		this.dialect.setKey(statement, index + 1, this.source);
	}

	@Override
	public void setVersion(PreparedStatement statement, long epoch, long version, String key) throws SQLException {
		FenceRows.super.setVersion(statement, epoch, version, key);
		this.dialect.setKey(statement, 5, this.source);
	}

	@Override
	public String ofHolder(String result) {
		return "SELECT " + result + OF_HOLDER;
	}

	@Override
	public String findVersion() {
		return FIND_VERSION;
	}

	@Override
	public String insertVersion() {
		return INSERT_VERSION.replace("{now}", this.dialect.now()) + this.dialect.ignoreDuplicate();
	}

	@Override
	public String compareVersion() {
		return COMPARE_VERSION;
	}

	/**
	 * Not while another one has the row locked, which may need what this transaction has
	 * locked.
	 */
	@Override
	public String raiseVersion() {
		return this.raiseVersion;
	}

	@Override
	public String removeHolder() {
		return REMOVE_HOLDER;
	}

	@Override
	public @Nullable String releaseHolder() {
		return null;
	}

}
