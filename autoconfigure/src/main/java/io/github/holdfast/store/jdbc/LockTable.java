package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockHolder;
import io.github.holdfast.fence.FenceRows;
import io.github.holdfast.sql.CancellableStatement;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.LockKeys;

/**
 * The statements on the table {@code holdfast_lock}. All times are microseconds of the
 * database's clock; a row without an owner is free.
 *
 * <p>
 * The row is the one that commits are checked against, so only grants, releases and
 * optimistic commits write it. A renewal writes a row of its own.
 */
final class LockTable implements FenceRows {

	static final String CHECK = """
			SELECT lock_key, epoch, owner, holder, acquired_at, expires_at, version
			FROM holdfast_lock WHERE 1 = 0""";

	static final String CHECK_INSERT = """
			INSERT INTO holdfast_lock (lock_key, epoch, owner, holder, acquired_at, expires_at, version)
			SELECT lock_key, epoch, owner, holder, acquired_at, expires_at, version
			FROM holdfast_lock WHERE 1 = 0""";

	static final String CHECK_UPDATE = """
			UPDATE holdfast_lock SET epoch = epoch, owner = owner, holder = holder,
				acquired_at = acquired_at, expires_at = expires_at, version = version WHERE 1 = 0""";

	private static final String FIND = """
			SELECT {now}, l.epoch, l.owner, l.holder, l.acquired_at, COALESCE(r.expires_at, l.expires_at)
			FROM (SELECT 1) one LEFT JOIN holdfast_lock l ON l.lock_key = ?
			LEFT JOIN holdfast_renewal r ON {renewed}""";

	private static final String INSERT = """
			INSERT INTO holdfast_lock (epoch, owner, holder, acquired_at, expires_at, version, lock_key)
			SELECT ?, ?, ?, {now}, {now} + ?, 0, ? FROM (SELECT 1) one WHERE {now} < ?{ignore}""";

	private static final String GRANT = "owner = ?, holder = ?, acquired_at = {now}, expires_at = {now} + ?";

	private static final String NEXT_EPOCH = "greatest(epoch + 1, {now}, ?)";

	private static final String TAKE = "UPDATE holdfast_lock l SET epoch = ?, " + GRANT
			+ " WHERE lock_key = ? AND epoch = ?";

	private static final String LOCK_HELD = """
			SELECT epoch FROM holdfast_lock
			WHERE lock_key = ? AND epoch = ? AND owner IS NOT NULL
			FOR UPDATE SKIP LOCKED""";

	private static final String TAKE_EXPIRED = TAKE
			+ " AND COALESCE((SELECT r.expires_at FROM holdfast_renewal r WHERE {renewed}), l.expires_at) <= {now}";

	private static final String FREE = "UPDATE holdfast_lock SET owner = NULL, holder = NULL, expires_at = {now}";

	private static final String RELEASE = FREE + " WHERE lock_key = ? AND owner = ?";

	private static final String RELEASE_HOLDER = FREE + " WHERE epoch = ? AND owner = ? AND lock_key = ?";

	/**
	 * Of a lease, or of a transaction, whose holder begins with its owner.
	 */
	private static final String OF_HOLDER = " FROM holdfast_lock WHERE epoch = ?"
			+ " AND coalesce({owner}, left({holder}, 36)) = ? AND lock_key = ?";

	static final String FREE_ROW = "lock_key = ? AND owner IS NULL";

	private static final String FIND_VERSION = "SELECT epoch, version, owner FROM holdfast_lock WHERE lock_key = ?";

	private static final String INSERT_VERSION = """
			INSERT INTO holdfast_lock (lock_key, epoch, acquired_at, expires_at, version)
			VALUES (?, {now}, {now}, {now}, {now}){ignore}""";

	private static final String OF_VERSION = "epoch = ? AND version = ? AND owner IS NULL AND lock_key = ?";

	/**
	 * The epoch, too: by it alone, a transaction lock that has ended, but in whose
	 * callbacks the application goes on, finds that others have committed since. And the
	 * holder, whose session has nothing to do with this one.
	 */
	private static final String RAISE = "epoch = greatest(epoch + 1, {now}), holder = NULL, version = version + 1";

	private static final String COMPARE_VERSION = "SELECT 1 FROM holdfast_lock WHERE " + OF_VERSION;

	/**
	 * How old a look at an absent row may be. Rows of later holders are not purged so
	 * soon, so that the epochs rise.
	 */
	private static final Duration FRESH = Duration.ofSeconds(30);

	/** Leaves room for the number of a connection. */
	private static final int MAX_HOLDER_LENGTH = 234;

	private static final long NO_ROW = -1;

	private final SqlDialect dialect;

	private final Map<String, String> resolved;

	private final String ofHolder;

	private final String takeFree;

	private final String awaitFree;

	private final @Nullable String awaitFreeForASecond;

	private final String raiseVersion;

	private final RenewalTable renewals;

	private final RowLocks locks;

	LockTable(SqlDialect dialect) {
		this.dialect = dialect;
		this.resolved = Stream.of(FIND, INSERT, LOCK_HELD, TAKE_EXPIRED, RELEASE, RELEASE_HOLDER, INSERT_VERSION)
			.collect(Collectors.toUnmodifiableMap(Function.identity(),
					(sql) -> sql.replace("{now}", dialect.now())
						.replace("{renewed}", RenewalTable.OF_HOLDER)
						.replace("{ignore}", dialect.ignoreDuplicate())));
		this.ofHolder = OF_HOLDER.replace("{owner}", dialect.comparable("owner"))
			.replace("{holder}", dialect.comparable("holder"));
		String take = ("epoch = " + dialect.answered(NEXT_EPOCH) + ", " + GRANT).replace("{now}", dialect.now());
		this.takeFree = dialect.updateSkippingLocked("holdfast_lock", "lock_key", take, FREE_ROW);
		this.awaitFree = dialect.updateAwaitingLocked("holdfast_lock", "lock_key", take, FREE_ROW);
		this.awaitFreeForASecond = dialect.waitingForASecond(this.awaitFree);
		this.raiseVersion = dialect.updateSkippingLocked("holdfast_lock", "lock_key", RAISE, OF_VERSION)
			.replace("{now}", dialect.now());
		this.renewals = new RenewalTable(dialect);
		this.locks = new RowLocks(dialect);
	}

	/**
	 * Take the row of a lock, if it is there and free, and if nobody has it locked. Where
	 * an update cannot pass over a locked row, in a transaction. The statement waits only
	 * if the whole table is locked, so it has no time-out, which costs MariaDB a part of
	 * what the update does.
	 * @param least the grant if its epoch is the next one, which may be a later one
	 * @return the grant, or {@code null} if the row was not taken
	 */
	@Nullable Grant takeFree(Connection connection, String id, Grant least, Duration limit) throws SQLException {
		if (!this.dialect.skipsLocked() && !this.locks.lockFree(connection, id, limit)) {
			return null;
		}
		return takeFree(connection, this.takeFree, id, least, limit.plusSeconds(1));
	}

	/**
	 * The same, and wait for the transaction that has the row locked.
	 * @param wait for how long, a second at most
	 * @throws SQLException also if that is over
	 */
	@Nullable Grant awaitFree(Connection connection, String id, Grant least, Duration wait) throws SQLException {
		String limited = (wait.compareTo(RowLocks.LONGEST_WAIT) < 0) ? null : this.awaitFreeForASecond;
		return (limited != null) ? takeFree(connection, limited, id, least, wait.plusSeconds(1))
				: takeFree(connection, this.awaitFree, id, least, wait);
	}

	private @Nullable Grant takeFree(Connection connection, String sql, String id, Grant least, Duration limit)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql, RowLocks.EPOCH)) {
			least.set(statement);
			this.dialect.setKey(statement, 5, id);
			return (CancellableStatement.run(statement, limit, statement::executeUpdate) != 0)
					? least.withEpoch(RowLocks.answer(statement)) : null;
		}
	}

	/**
	 * Read the row of a lock, without locking it.
	 */
	Row find(Connection connection, String id, Duration timeout) throws SQLException {
		try (PreparedStatement statement = prepare(connection, FIND, timeout)) {
			this.dialect.setKey(statement, 1, id);
			try (ResultSet rs = statement.executeQuery()) {
				rs.next();
				long now = rs.getLong(1);
				long epoch = rs.getLong(2);
				return rs.wasNull() ? new Row(now, NO_ROW, null, null, 0, 0)
						: new Row(now, epoch, rs.getString(3), rs.getString(4), rs.getLong(5), rs.getLong(6));
			}
		}
	}

	/**
	 * Take a row that was not there when the clock was read.
	 */
	boolean insert(Connection connection, String id, long seenAt, Grant grant, Duration timeout) throws SQLException {
		try (PreparedStatement statement = prepare(connection, INSERT, timeout)) {
			grant.set(statement);
			this.dialect.setKey(statement, 5, id);
			statement.setLong(6, seenAt + micros(FRESH));
			return statement.executeUpdate() == 1;
		}
		catch (SQLException ex) {
			if (this.dialect.isDuplicateKey(ex)) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * Take a row whose lease has run out, unless its holder's transaction is just
	 * committing, or its lease being renewed, and has the row locked. Needs a transaction
	 * at READ COMMITTED: the second statement looks at the renewals anew.
	 */
	boolean takeExpired(Connection connection, String id, long seenEpoch, Grant grant, Duration timeout)
			throws SQLException {
		return lockHeld(connection, id, seenEpoch, timeout)
				&& take(connection, TAKE_EXPIRED, id, seenEpoch, grant, timeout);
	}

	private boolean lockHeld(Connection connection, String id, long seenEpoch, Duration timeout) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LOCK_HELD, timeout)) {
			this.dialect.setKey(statement, 1, id);
			statement.setLong(2, seenEpoch);
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next();
			}
		}
	}

	private boolean take(Connection connection, String sql, String id, long seenEpoch, Grant grant, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = prepare(connection, sql, timeout)) {
			grant.set(statement);
			this.dialect.setKey(statement, 5, id);
			statement.setLong(6, seenEpoch);
			return statement.executeUpdate() == 1;
		}
	}

	boolean release(Connection connection, String id, String owner, Duration timeout) throws SQLException {
		try (PreparedStatement statement = prepare(connection, RELEASE, timeout)) {
			this.dialect.setKey(statement, 1, id);
			statement.setString(2, owner);
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Free the row of a holder, unless its commit or a renewal has it locked.
	 */
	boolean removeHolder(Connection connection, String id, String owner, long epoch, Duration timeout)
			throws SQLException {
		if (!lockHeld(connection, id, epoch, timeout)) {
			return false;
		}
		try (PreparedStatement statement = prepare(connection, RELEASE_HOLDER, timeout)) {
			statement.setLong(1, epoch);
			statement.setString(2, owner);
			this.dialect.setKey(statement, 3, id);
			return statement.executeUpdate() == 1;
		}
	}

	RenewalTable renewals() {
		return this.renewals;
	}

	RowLocks locks() {
		return this.locks;
	}

	@Override
	public SqlDialect dialect() {
		return this.dialect;
	}

	@Override
	public void setKey(PreparedStatement statement, int index, String key) throws SQLException {
		this.dialect.setKey(statement, index, LockKeys.id(key, SqlDialect.MAX_KEY_BYTES));
	}

	@Override
	public String ofHolder(String result) {
		return "SELECT " + result + this.ofHolder;
	}

	@Override
	public String findVersion() {
		return FIND_VERSION;
	}

	@Override
	public String insertVersion() {
		return resolved(INSERT_VERSION);
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

	/**
	 * The release of the lock does it.
	 */
	@Override
	public @Nullable String removeHolder() {
		return null;
	}

	@Override
	public String releaseHolder() {
		return resolved(RELEASE_HOLDER);
	}

	private PreparedStatement prepare(Connection connection, String sql, Duration timeout) throws SQLException {
		return LockConnections.prepare(connection, resolved(sql), timeout);
	}

	private String resolved(String sql) {
		return Objects.requireNonNull(this.resolved.get(sql));
	}

	static String shortened(String holder) {
		return (holder.length() > MAX_HOLDER_LENGTH) ? holder.substring(0, MAX_HOLDER_LENGTH) : holder;
	}

	static long micros(Duration duration) {
		return TimeUnit.MICROSECONDS.convert(duration);
	}

	/**
	 * What the table says about a lock.
	 *
	 * @param now the database's clock
	 * @param epoch the epoch of the last holder, or -1 if there is no row
	 * @param owner the owner, or {@code null} if the lock is free
	 * @param holder who holds it, for people
	 * @param acquiredAt when it was granted
	 * @param expiresAt when the lease runs out
	 */
	record Row(long now, long epoch, @Nullable String owner, @Nullable String holder, long acquiredAt, long expiresAt) {

		boolean exists() {
			return this.epoch != NO_ROW;
		}

		boolean isExpired() {
			return this.owner != null && this.expiresAt <= this.now;
		}

		@Nullable LockHolder heldBy() {
			return (this.owner != null)
					? new LockHolder(this.owner, text(), instant(this.acquiredAt), instant(this.expiresAt), this.epoch)
					: null;
		}

		/**
		 * A transaction that has the row locked. What it has written is not committed.
		 */
		LockHolder lockedBy() {
			return LockHolder.described("held by a transaction that has not been committed, or shared");
		}

		private String text() {
			return isExpired()
					? "the lease of " + this.holder + " has run out, but its transaction is still open in the database"
					: "held by " + this.holder + ", whose lease is renewed or ends in "
							+ TimeUnit.MICROSECONDS.toMillis(this.expiresAt - this.now) + " ms";
		}

		private static Instant instant(long micros) {
			return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
		}

	}

	/**
	 * What is written when a lock is taken.
	 */
	record Grant(long epoch, String owner, String holder, Duration leaseTime) {

		private Grant withEpoch(long epoch) {
			return new Grant(epoch, this.owner, this.holder, this.leaseTime);
		}

		private void set(PreparedStatement statement) throws SQLException {
			statement.setLong(1, this.epoch);
			statement.setString(2, this.owner);
			statement.setString(3, shortened(this.holder));
			statement.setLong(4, micros(this.leaseTime));
		}

	}

}
