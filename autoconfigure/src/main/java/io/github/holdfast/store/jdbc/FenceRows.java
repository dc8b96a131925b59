package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.core.Grant;
import io.github.holdfast.store.Polling.Deadline;

/**
 * The rows of the grants of other stores: each names the latest grant that a transaction
 * has worked under.
 */
public final class FenceRows {

	private final OwnConnections connections;

	private final String source;

	/**
	 * Create the rows of a store.
	 * @param dataSource supplies the database with the table, at the first use
	 * @param source the name of the store, which the keys of its rows begin with
	 */
	public FenceRows(Supplier<DataSource> dataSource, String source) {
		this.connections = new OwnConnections(dataSource);
		this.source = source;
	}

	/**
	 * The database of the rows.
	 * @return its connections and statements
	 */
	public OwnConnections database() {
		return this.connections;
	}

	private String id(String key) {
		return LockRows.id(this.source + ' ' + key);
	}

	/**
	 * The owner in a row: 64 of the random bits of its id.
	 */
	private static long owner(Grant grant) {
		return UUID.fromString(grant.request().owner().id()).getMostSignificantBits();
	}

	/**
	 * Writes a grant into its row, in a separate transaction. Waits for an open
	 * transaction of an earlier holder.
	 * @param grant the grant
	 * @param nanos how long to wait
	 * @return {@code false} if a later holder is in the row, or the time is over
	 * @throws InterruptedException if the thread was interrupted
	 */
	public boolean install(Grant grant, long nanos) throws InterruptedException {
		String id = id(grant.request().key());
		Deadline deadline = Deadline.after(Duration.ofNanos(nanos));
		try {
			boolean installed = install(grant, id, deadline)
					|| insertIfMissing(id, grant.request().key(), grant.lease().epoch())
							&& install(grant, id, deadline);
			if (installed) {
				grant.installed();
			}
			return installed;
		}
		catch (SQLException ex) {
			if (Thread.interrupted()) {
				throw (InterruptedException) new InterruptedException().initCause(ex);
			}
			if (this.connections.isTransient(ex)) {
				return false;
			}
			throw LockWaits.failed(grant.request().key(), "could not be written into the table holdfast_lock", ex);
		}
	}

	private boolean install(Grant grant, String id, Deadline deadline) throws SQLException {
		long nanos = Math.max(LockWaits.SHORT / 10, deadline.remainingNanos());
		return this.connections.repeat(() -> this.connections
			.call((connection, rows) -> rows.fence(connection, id, grant.lease().epoch(), owner(grant), nanos)));
	}

	/**
	 * Inserts the row of a key that is used for the first time.
	 * @return {@code false} if it names this grant's epoch or a later one
	 */
	private boolean insertIfMissing(String id, String key, long epoch) throws SQLException {
		return this.connections.repeat(() -> this.connections.call((connection, rows) -> {
			LockRows.Row row = rows.find(connection, id, LockWaits.SHORT);
			if (row == null) {
				rows.insert(connection, id, true, LockWaits.SHORT);
			}
			else if (row.epoch() / 2 > epoch + (1L << 20)) {
				throw new LockBackendException(key,
						"was granted with epoch " + epoch + ", but its row in holdfast_lock " + "has " + row.epoch()
								+ ". If the store was newly installed, delete the rows whose lock_key begins with '"
								+ this.source + " '",
						null);
			}
			return row == null || row.epoch() < epoch;
		}));
	}

	/**
	 * Inserts the row of a grant whose transaction did not find it.
	 * @param grant the grant
	 * @param key the key as the caller gave it
	 * @return {@code false} if the grant was superseded
	 */
	public boolean insertIfMissing(Grant grant, String key) {
		return LockWaits.ask(key, "could not be written into the table holdfast_lock",
				() -> insertIfMissing(id(grant.request().key()), key, grant.lease().epoch()));
	}

	/**
	 * Claims the row by the first statement of a transaction.
	 * @param grant the grant
	 * @param connection the connection of the transaction
	 * @param rows the statements
	 * @param hold how the row of a grant is held that is in it already
	 * @return {@code false} if the row is missing or names a later holder
	 * @throws SQLException if the database failed
	 */
	public boolean claim(Grant grant, Connection connection, LockRows rows, LockRows.Hold hold) throws SQLException {
		return grant.isInstalled() ? check(grant, connection, rows, hold)
				: rows.fence(connection, id(grant.request().key()), grant.lease().epoch(), owner(grant),
						Math.max(LockWaits.SHORT, grant.request().waitTime().toNanos()));
	}

	/**
	 * Asks whether the row names exactly this grant.
	 * @param grant the grant
	 * @param connection the connection of the transaction
	 * @param rows the statements
	 * @param hold how the row is held
	 * @return {@code false} if the grant was superseded; a row that is missing counts as
	 * that
	 * @throws SQLException if the database failed
	 */
	public boolean check(Grant grant, Connection connection, LockRows rows, LockRows.Hold hold) throws SQLException {
		return rows.check(connection, id(grant.request().key()), grant.lease().epoch(), owner(grant), hold,
				LockWaits.SHORT);
	}

	/**
	 * Keeps the transactions of a holder from committing, for an operator.
	 * @param key the stored key
	 * @param epoch the epoch of the grant
	 */
	public void exclude(String key, long epoch) {
		String id = id(key);
		LockWaits.ask(key, "could not be taken away",
				() -> this.connections.repeat(() -> this.connections.call((connection, rows) -> {
					rows.insert(connection, id, true, LockWaits.SHORT);
					return rows.evictToken(connection, id, epoch, LockWaits.SHORT);
				})));
	}

}
