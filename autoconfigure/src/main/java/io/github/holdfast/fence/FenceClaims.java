package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.SqlDialect;

/**
 * The claims of leases by the transactions that they protect: the first statement of a
 * transaction writes epoch and owner into the row of the lock, and so keeps it locked to
 * its end. Until then no later holder gets to read anything; afterwards no earlier one
 * can commit. A claim never waits. If the row is locked, missing or that of a later
 * holder, the lease has to be installed before the transaction.
 *
 * <p>
 * Safe for use by many threads.
 *
 * @since 0.2.0
 */
public final class FenceClaims {

	private static final Logger logger = LoggerFactory.getLogger(FenceClaims.class);

	private static final int TIMEOUT_SECONDS = 10;

	private final String source;

	private final InstalledLeases installed = new InstalledLeases();

	private volatile @Nullable FenceStatements statements;

	FenceClaims(String source) {
		this.source = source;
	}

	InstalledLeases installed() {
		return this.installed;
	}

	/**
	 * Whether a lease need not be in the table when it is granted.
	 */
	boolean canWait(LockRequest request) {
		return request.claims() && this.installed.hasRow(request.key());
	}

	/**
	 * Whether a lease has not been written yet, so that transactions of earlier holders
	 * may still commit.
	 * @param lease the lease
	 * @return {@code false} if a transaction that has written it has been committed
	 */
	public boolean isPending(LockLease lease) {
		return !this.installed.contains(lease);
	}

	/**
	 * Write leases in the transaction of a connection.
	 * @param connection the connection, in a transaction in which nothing has been done
	 * @param leases the leases, in the order of their keys
	 * @return {@code false} if at least one was not written, so that the transaction has
	 * to be rolled back
	 * @throws LockBackendException if the table could not be written
	 */
	public boolean claim(Connection connection, List<LockLease> leases) {
		FenceStatements statements = null;
		try {
			statements = statements(connection);
			boolean claimed = claim(connection, statements, leases);
			if (!claimed) {
				leases.forEach((lease) -> this.installed.forget(lease.key()));
			}
			return claimed;
		}
		catch (SQLException ex) {
			if (statements != null
					&& (statements.dialect().isConcurrencyFailure(ex) || statements.dialect().isTimeout(ex))) {
				return false;
			}
			throw new LockBackendException(leases.get(0).key(),
					"could not be written into the fence table, so the transaction was rolled back", ex);
		}
	}

	private boolean claim(Connection connection, FenceStatements statements, List<LockLease> leases)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(statements.claim())) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			if (leases.size() == 1) {
				statements.setClaim(statement, leases.get(0));
				return statement.executeUpdate() == 1;
			}
			for (LockLease lease : leases) {
				statements.setClaim(statement, lease);
				statement.addBatch();
			}
			int[] counts = statement.executeBatch();
			boolean all = true;
			for (int i = 0; i < counts.length; i++) {
				all &= counts[i] == 1
						|| (counts[i] == Statement.SUCCESS_NO_INFO && isClaimed(connection, statements, leases.get(i)));
			}
			return all;
		}
	}

	private FenceStatements statements(Connection connection) throws SQLException {
		FenceStatements statements = this.statements;
		if (statements == null) {
			statements = new FenceStatements(this.source, SqlDialect.of(connection));
			this.statements = statements;
		}
		return statements;
	}

	/**
	 * Whether transactions like that of a connection can claim at all.
	 * @param connection the connection, in a transaction that could not
	 * @return {@code false} if their reads may be older than their first statement
	 */
	public boolean isPossible(Connection connection) {
		try (PreparedStatement statement = connection.prepareStatement(statements(connection).readsAreFresh())) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			return finds(statement);
		}
		catch (SQLException ex) {
			logger.debug("A transaction that could not claim does not tell why", ex);
			return true;
		}
	}

	/**
	 * Whether what was written stays as long as nobody ends the transaction on its
	 * connection. PostgreSQL refuses the commit of a transaction that it has ended; other
	 * databases let it go on as a new one.
	 * @return {@code false} also if that is not known yet
	 */
	public boolean areKeptUntilTheEnd() {
		FenceStatements statements = this.statements;
		return statements != null && statements.dialect() == SqlDialect.POSTGRESQL;
	}

	private static boolean isClaimed(Connection connection, FenceStatements statements, LockLease lease)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(statements.ofHolder("1"))) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			statements.setHolder(statement, lease);
			return finds(statement);
		}
	}

	/**
	 * Note that the row of a lease was found not to name it.
	 * @param lease the lease
	 * @return whether it was not expected to
	 */
	public boolean lost(LockLease lease) {
		boolean pending = isPending(lease);
		this.installed.forget(lease.key());
		return pending;
	}

	private static boolean finds(PreparedStatement statement) throws SQLException {
		try (ResultSet rs = statement.executeQuery()) {
			return rs.next();
		}
	}

	/**
	 * Note that the transaction that has written leases has been committed.
	 * @param leases the leases
	 */
	public void committed(List<LockLease> leases) {
		leases.forEach(this.installed::add);
	}

}
