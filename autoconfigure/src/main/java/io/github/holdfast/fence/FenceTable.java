package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

import io.github.holdfast.LockLease;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * The table {@code holdfast_fence} in the business database, for the locks of a store
 * outside of it. Each holder is installed in the row of its lock before it reads
 * anything, so that no earlier one can commit any more:
 *
 * <ol>
 * <li>Write the row if it has a smaller epoch and is not locked, or insert one if there
 * is none, by statements that commit by themselves. On H2 and MySQL, where the first one
 * might wait, this step is left out. If it has not worked:
 * <li>Read the row and lock it, unless it is locked: then the transaction of an earlier
 * holder is still open, and nothing is written.
 * <li>A smaller epoch: write ours. The same or a larger one: leave it.
 * <li>No row: insert one. If another one was faster, begin anew.
 * </ol>
 *
 * <p>
 * Each attempt is on a connection of its own; from the second step on it is a transaction
 * at READ COMMITTED. Safe for use by many threads.
 *
 * @since 0.2.0
 */
public final class FenceTable {

	private static final int MAX_SOURCE_LENGTH = 40;

	private final Supplier<DataSource> dataSource;

	private final String source;

	private final FenceTableClaims claims;

	private final LockConnections<FenceStatements> connections;

	/**
	 * Create the rows of one store.
	 * @param dataSource supplies the business database, at the first use
	 * @param source the name of the store, the same on all nodes: 1 to 40 characters of
	 * ASCII. Stores that count their epochs apart need different names.
	 */
	public FenceTable(Supplier<DataSource> dataSource, String source) {
		Assert.isTrue(source.matches("[!-~]{1," + MAX_SOURCE_LENGTH + "}"),
				() -> "The source '" + source + "' is not 1 to 40 characters of ASCII");
		this.dataSource = dataSource;
		this.source = source;
		this.claims = new FenceTableClaims(source);
		this.connections = new LockConnections<>(dataSource, (dialect) -> new FenceStatements(source, dialect));
	}

	/**
	 * The check of commits against this table.
	 * @return the fence
	 */
	public RowFence fence() {
		return new RowFence(this.dataSource, (dialect) -> new FenceStatements(this.source, dialect), this.claims);
	}

	/**
	 * Check that the database is supported and that the table is there.
	 * @throws SQLException if it is not
	 */
	public void checkTable() throws SQLException {
		this.connections.execute(FenceStatements.CHECK);
	}

	/**
	 * Check that rows of the table may be inserted and updated, without doing so.
	 * @throws SQLException if they may not
	 */
	public void checkWritable() throws SQLException {
		this.connections.execute(FenceStatements.CHECK_INSERT, FenceStatements.CHECK_UPDATE);
	}

	/**
	 * The dialect of the database.
	 * @return the dialect
	 * @throws SQLException if the database is unreachable
	 */
	public SqlDialect dialect() throws SQLException {
		return this.connections.dialect();
	}

	FenceTableClaims claims() {
		return this.claims;
	}

	String source() {
		return this.source;
	}

	/**
	 * Try once to let only the transactions of this lease commit from now on.
	 * @return what the row says now: this lease, or one with the same or a larger epoch
	 * that was there before; {@code null} if the transaction of an earlier holder is open
	 */
	@Nullable FenceEntry install(LockLease lease, Duration timeout) throws SQLException {
		FenceEntry entry = this.connections.retryInAnySession(() -> installAtOnce(lease, timeout))
				? FenceEntry.of(lease) : this.connections.retryInAnySession(() -> this.connections
					.inTransaction((connection, statements) -> install(connection, statements, lease, timeout)));
		if (entry != null && entry.isOf(lease)) {
			this.claims.installed().add(lease);
		}
		return entry;
	}

	/**
	 * Most leases meet the row of an earlier holder, or none.
	 * @return {@code false} if there is more to be looked at
	 */
	private boolean installAtOnce(LockLease lease, Duration timeout) throws SQLException {
		if (!this.connections.dialect().skipsLocked()) {
			return false;
		}
		try {
			return this.connections.call((connection, statements) -> statements.updateOlder(connection, lease, timeout))
					|| this.connections
						.call((connection, statements) -> insertIfMissing(connection, statements, lease, timeout));
		}
		catch (SQLException ex) {
			if (this.connections.is(ex, SqlDialect::isConcurrencyFailure)
					|| this.connections.is(ex, SqlDialect::isDuplicateKey)) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * The insert would wait for a transaction that has the row locked. So would the look
	 * in a transaction at the level SERIALIZABLE.
	 */
	private static boolean insertIfMissing(Connection connection, FenceStatements statements, LockLease lease,
			Duration timeout) throws SQLException {
		if (!connection.getAutoCommit() || statements.find(connection, lease.key(), timeout) != null) {
			return false;
		}
		statements.insert(connection, lease.key(), FenceEntry.of(lease), timeout);
		return true;
	}

	private static @Nullable FenceEntry install(Connection connection, FenceStatements statements, LockLease lease,
			Duration timeout) throws SQLException {
		FenceEntry found = statements.lock(connection, lease.key(), timeout);
		if (found != null && found.epoch() >= lease.epoch()) {
			return found;
		}
		if (found != null) {
			statements.update(connection, lease.key(), FenceEntry.of(lease), timeout);
		}
		else if (statements.find(connection, lease.key(), timeout) == null) {
			statements.insert(connection, lease.key(), FenceEntry.of(lease), timeout);
		}
		else {
			return null;
		}
		return FenceEntry.of(lease);
	}

	/**
	 * Which holder's transaction is still open, as its commit has the row locked.
	 * @return what the row says, or {@code null} if there is none or it is not locked
	 */
	@Nullable FenceEntry findLocked(String key, Duration timeout) throws SQLException {
		return this.connections.inTransaction((connection, statements) -> {
			FenceEntry entry = statements.find(connection, key, timeout);
			return (entry != null && statements.lock(connection, key, timeout) == null) ? entry : null;
		});
	}

	/**
	 * Whether the row of a lock names a holder, or has been taken from it.
	 */
	boolean isNamed(String key, FenceEntry holder, Duration timeout) throws SQLException {
		FenceEntry found = this.connections.call((connection, statements) -> statements.find(connection, key, timeout));
		return found != null && (found.equals(holder) || found.isTakenFrom(holder));
	}

	/**
	 * Let neither the transactions of a holder commit any more, nor those in which it
	 * would claim its lease: the row gets its epoch, if it has none or a smaller one, and
	 * names nobody.
	 * @return {@code false} if a later holder is there already, so that nothing was to be
	 * done; {@code null} if a transaction has the row locked
	 */
	@Nullable Boolean exclude(String key, FenceEntry holder, Duration timeout) throws SQLException {
		Boolean excluded = this.connections.retryInAnySession(() -> this.connections
			.inTransaction((connection, statements) -> exclude(connection, statements, key, holder, timeout)));
		this.claims.installed().forget(key);
		return excluded;
	}

	private static @Nullable Boolean exclude(Connection connection, FenceStatements statements, String key,
			FenceEntry holder, Duration timeout) throws SQLException {
		FenceEntry found = statements.lock(connection, key, timeout);
		if (found == null && statements.find(connection, key, timeout) != null) {
			return null;
		}
		if (found == null) {
			statements.insert(connection, key, holder.taken(), timeout);
			return true;
		}
		if (found.epoch() < holder.epoch() || found.equals(holder)) {
			statements.update(connection, key, holder.taken(), timeout);
			return true;
		}
		return found.isTakenFrom(holder);
	}

}
