package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.LockKeys;

/**
 * The statements on the table {@code holdfast_renewal}. A row counts as long as the lock
 * row has the same epoch and owner: then its time of expiry replaces that of the lock
 * row. Otherwise it is what was left by an earlier holder.
 *
 * <p>
 * A row under another id says that somebody waits for all who share a lock, so that no
 * more of them get it.
 */
final class RenewalTable {

	static final String CHECK = """
			SELECT lock_key, epoch, owner, expires_at
			FROM holdfast_renewal WHERE 1 = 0""";

	static final String CHECK_INSERT = """
			INSERT INTO holdfast_renewal (lock_key, epoch, owner, expires_at)
			SELECT lock_key, epoch, owner, expires_at
			FROM holdfast_renewal WHERE 1 = 0""";

	static final String CHECK_UPDATE = """
			UPDATE holdfast_renewal SET epoch = epoch, owner = owner, expires_at = expires_at WHERE 1 = 0""";

	/** Whether a renewal, r, is about the holder in the lock row, l. */
	static final String OF_HOLDER = "r.lock_key = l.lock_key AND r.epoch = l.epoch AND r.owner = l.owner";

	/** Whether somebody waits for those who share a lock. */
	static final String WAITING = "SELECT 1 FROM holdfast_renewal w WHERE w.lock_key = ? AND w.expires_at > {now}";

	private static final String OF_WAITER = "SELECT ?, 0, '', {now} + ? FROM (SELECT 1) one";

	private static final String OF_LOCK = """
			SELECT lock_key, epoch, owner, {now} + ? FROM holdfast_lock
			WHERE lock_key = ? AND epoch = ? AND owner = ?""";

	private final SqlDialect dialect;

	private final String renew;

	private final String announce;

	RenewalTable(SqlDialect dialect) {
		this.dialect = dialect;
		this.renew = upsert(OF_LOCK + dialect.shareLock());
		this.announce = upsert(OF_WAITER);
	}

	private String upsert(String query) {
		return this.dialect.upsert("holdfast_renewal", "lock_key", List.of("epoch", "owner", "expires_at"),
				query.replace("{now}", this.dialect.now()));
	}

	/**
	 * The id under which somebody waits for a lock.
	 * @param id the id of the lock
	 */
	static String waitingId(String id) {
		return LockKeys.id("\u0001waiting " + id, SqlDialect.MAX_KEY_BYTES);
	}

	/**
	 * Keep more holders from sharing a lock for some time, or let them again after none.
	 */
	boolean announceWaiter(Connection connection, String id, Duration time, Duration timeout) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, this.announce, timeout)) {
			this.dialect.setKey(statement, 1, waitingId(id));
			statement.setLong(2, TimeUnit.MICROSECONDS.convert(time));
			return statement.executeUpdate() > 0;
		}
	}

	/**
	 * Write the renewal of a lease, if the lock row is still its. That row is locked
	 * meanwhile, but not changed.
	 */
	boolean renew(Connection connection, String id, long epoch, String owner, Duration leaseTime, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, this.renew, timeout)) {
			statement.setLong(1, TimeUnit.MICROSECONDS.convert(leaseTime));
			this.dialect.setKey(statement, 2, id);
			statement.setLong(3, epoch);
			statement.setString(4, owner);
			// MySQL and MariaDB count an updated row twice
			return statement.executeUpdate() > 0;
		}
	}

}
