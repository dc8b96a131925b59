package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.util.Assert;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.sql.TransactionConnection;
import io.github.holdfast.store.Deadline;

/**
 * The fence of rows. Their epoch was raised before a later holder read anything, so a
 * transaction that finds its own epoch and owner, and keeps the row locked until it has
 * committed, cannot commit over a later holder. It stands in every pool of its database.
 *
 * <p>
 * After Redis author S. Sanfilippo's reply to M. Kleppmann's "How to do distributed
 * locking": set the token first, then change data only while it is still the same.
 *
 * @since 0.2.0
 */
public final class RowFence implements Fence {

	private static final Logger logger = LoggerFactory.getLogger(RowFence.class);

	/**
	 * Unless the transaction has a time-out of its own, which is checked here as well.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	/** How long others may have the row locked without being a later holder. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private static final Duration PAUSE = Duration.ofMillis(5);

	private final Supplier<DataSource> dataSource;

	private final Function<SqlDialect, FenceRows> rows;

	private final @Nullable FenceClaims claims;

	private volatile @Nullable FenceRows known;

	/**
	 * Create a fence.
	 * @param dataSource supplies the database, at the first use
	 * @param rows the rows of a table, in the words of a database
	 */
	public RowFence(Supplier<DataSource> dataSource, Function<SqlDialect, FenceRows> rows) {
		this(dataSource, rows, null);
	}

	/**
	 * Create a fence whose rows can be claimed.
	 * @param dataSource supplies the database, at the first use
	 * @param rows the rows of a table, in the words of a database
	 * @param claims how transactions write leases into the rows, or {@code null} if they
	 * do not
	 */
	public RowFence(Supplier<DataSource> dataSource, Function<SqlDialect, FenceRows> rows,
			@Nullable FenceClaims claims) {
		this.dataSource = dataSource;
		this.rows = rows;
		this.claims = claims;
	}

	@Override
	public @Nullable FenceClaims claims() {
		return this.claims;
	}

	@Override
	public DataSource dataSource() {
		return this.dataSource.get();
	}

	@Override
	public String lossDetail() {
		return "another holder has taken it since, or it was removed, as the fence row in the database says";
	}

	/**
	 * The rows in the words of a database.
	 * @param dialect the dialect of the database
	 * @return the rows
	 */
	public FenceRows rows(SqlDialect dialect) {
		return this.rows.apply(dialect);
	}

	/**
	 * The rows in the words of the database of this fence.
	 * @param connection a connection to it
	 * @return the rows
	 * @throws SQLException if the driver fails
	 */
	public FenceRows rows(Connection connection) throws SQLException {
		FenceRows known = this.known;
		if (known == null) {
			known = rows(SqlDialect.of(connection));
			this.known = known;
		}
		return known;
	}

	/**
	 * Whether a connection, to whatever database, sees the row of a lease.
	 * @param connection the connection
	 * @param lease the lease
	 * @return whether there is a row with exactly its epoch and owner
	 * @throws SQLException if the row cannot be read
	 */
	private boolean sees(Connection connection, LockLease lease) throws SQLException {
		FenceRows rows = rows(SqlDialect.of(connection));
		try (PreparedStatement statement = LockConnections.prepare(connection, rows.ofHolder("1"), TIMEOUT)) {
			rows.setHolder(statement, lease);
			return finds(statement);
		}
	}

	/**
	 * A row is only read if the transaction is declared read-only and the database sees
	 * to it.
	 */
	@Override
	public boolean holds(DataSource managed, LockLease lease, boolean readOnly) {
		return TransactionConnection.use(managed, lease.key(),
				(connection) -> check(connection, lease, (rows) -> check(connection, rows, lease, readOnly)));
	}

	/**
	 * Where the lock is in the row itself, and the transactions are those of the pool,
	 * and so of the user, that may change it. Known from the first check on.
	 */
	@Override
	public boolean canRelease(DataSource managed) {
		FenceRows known = this.known;
		return known != null && known.releaseHolder() != null && managed == dataSource();
	}

	@Override
	public boolean release(DataSource managed, LockLease lease) {
		return TransactionConnection.use(managed, lease.key(),
				(connection) -> check(connection, lease, (rows) -> release(connection, rows, lease)));
	}

	private boolean check(TransactionConnection connection, LockLease lease, Check check) throws SQLException {
		FenceRows rows = rows(connection.get());
		try {
			return check.on(rows);
		}
		catch (SQLException ex) {
			if (!rows.dialect().isConcurrencyFailure(ex)) {
				throw ex;
			}
			if (isHeldAfterRollback(connection, lease)) {
				throw new CannotAcquireLockException("The database has rolled the transaction back in favour of "
						+ "another one, at the check before the commit. The lock was not lost: try again", ex);
			}
			throw new LockLostException(lease.key(),
					"another holder has taken it since the transaction's snapshot, as the database says", ex);
		}
	}

	/**
	 * Whether a lock is held although the database has refused the check of its row: it
	 * refuses more than the row of a later holder, such as a transaction that would not
	 * be serializable, or the victim of a deadlock. What a transaction sees now, and what
	 * it keeps locked, is not enough to tell, so it is rolled back here, as the exception
	 * will have it anyway.
	 * @return {@code false} also if that could not be found out
	 */
	private boolean isHeldAfterRollback(TransactionConnection connection, LockLease lease) {
		try {
			connection.get().rollback();
			return sees(connection.get(), lease);
		}
		catch (SQLException ex) {
			logger.debug("The row of a lock could not be read after the rollback of a transaction", ex);
			return false;
		}
	}

	private static boolean release(TransactionConnection connection, FenceRows rows, LockLease lease)
			throws SQLException {
		String sql = rows.releaseHolder();
		Assert.state(sql != null, "The lock is elsewhere");
		try (PreparedStatement statement = connection.prepare(rows.dialect().lookingAtNow(sql), TIMEOUT)) {
			rows.setHolder(statement, lease);
			return statement.executeUpdate() == 1;
		}
	}

	private static boolean check(TransactionConnection connection, FenceRows rows, LockLease lease, boolean readOnly)
			throws SQLException {
		String asksWhetherReadOnly = readOnly ? rows.dialect().readOnly() : null;
		Boolean held = (asksWhetherReadOnly != null) ? checkReadOnly(connection, rows, lease, asksWhetherReadOnly)
				: null;
		return (held != null) ? held : checkAndLock(connection, rows, lease);
	}

	/**
	 * A later holder may have the row locked, and wait for one that this transaction has
	 * locked. So this one does not wait for it there, where the database might roll back
	 * either of them.
	 */
	private static boolean checkAndLock(TransactionConnection connection, FenceRows rows, LockLease lease)
			throws SQLException {
		String sql = rows.dialect().lookingAtNow(rows.ofHolder("1") + rows.dialect().shareLockOfUnlocked());
		try (PreparedStatement statement = connection.prepare(sql, TIMEOUT)) {
			rows.setHolder(statement, lease);
			if (finds(statement)) {
				return true;
			}
		}
		Deadline deadline = Deadline.after(PATIENCE);
		Boolean held = lookAgain(connection, rows, lease);
		while (held == null && !deadline.hasPassed()) {
			LockSupport.parkNanos(PAUSE.toNanos());
			held = lookAgain(connection, rows, lease);
		}
		return Boolean.TRUE.equals(held);
	}

	/**
	 * What the row says, of whomever it is.
	 * @return whether it names the holder, or {@code null} if it is locked or missing
	 */
	private static @Nullable Boolean lookAgain(TransactionConnection connection, FenceRows rows, LockLease lease)
			throws SQLException {
		String sql = rows.dialect().lookingAtNow(rows.findVersion() + rows.dialect().shareLockOfUnlocked());
		try (PreparedStatement statement = connection.prepare(sql, TIMEOUT)) {
			rows.setKey(statement, 1, lease.key());
			if (!finds(statement)) {
				return null;
			}
		}
		try (PreparedStatement statement = connection
			.prepare(rows.dialect().lookingAtNow(rows.ofHolder("1") + rows.dialect().shareLock()), TIMEOUT)) {
			rows.setHolder(statement, lease);
			return finds(statement);
		}
	}

	/**
	 * Check a lease without locking its row, where the transaction cannot write.
	 * @return whether it is held, or {@code null} if the transaction can write
	 */
	private static @Nullable Boolean checkReadOnly(TransactionConnection connection, FenceRows rows, LockLease lease,
			String asksWhetherReadOnly) throws SQLException {
		try (PreparedStatement statement = connection.prepare(rows.ofHolder(asksWhetherReadOnly), TIMEOUT)) {
			rows.setHolder(statement, lease);
			try (ResultSet rs = statement.executeQuery()) {
				boolean held = rs.next();
				return (held && !rs.getBoolean(1)) ? null : held;
			}
		}
	}

	private static boolean finds(PreparedStatement statement) throws SQLException {
		try (ResultSet rs = statement.executeQuery()) {
			return rs.next();
		}
	}

	/**
	 * A check of a row in a transaction.
	 */
	@FunctionalInterface
	private interface Check {

		boolean on(FenceRows rows) throws SQLException;

	}

}
