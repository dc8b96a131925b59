package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * The statements on the table {@code holdfast_renewal}. A row counts as long as the lock
 * row has the same epoch and owner: then its time of expiry replaces that of the lock
 * row. Otherwise it is what was left by an earlier holder.
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

	private static final String OF_LOCK = """
			SELECT lock_key, epoch, owner, {now} + ? FROM holdfast_lock
			WHERE lock_key = ? AND epoch = ? AND owner = ?""";

	private final SqlDialect dialect;

	private final String renew;

	RenewalTable(SqlDialect dialect) {
		this.dialect = dialect;
		this.renew = dialect.upsert("holdfast_renewal", "lock_key", List.of("epoch", "owner", "expires_at"),
				OF_LOCK.replace("{now}", dialect.now()) + dialect.shareLock());
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
