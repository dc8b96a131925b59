package io.github.holdfast.fence;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * The claims of leases that a store has granted, in the fence table. They never wait. If
 * the row is locked, missing or that of a later holder, the lease has to be installed
 * before the transaction.
 */
final class FenceTableClaims implements FenceClaims {

	private static final Logger logger = LoggerFactory.getLogger(FenceTableClaims.class);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final String source;

	private final InstalledLeases installed = new InstalledLeases();

	private volatile @Nullable FenceStatements statements;

	FenceTableClaims(String source) {
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

	@Override
	public boolean isPending(LockLease lease) {
		return !this.installed.contains(lease);
	}

	@Override
	public boolean claim(Connection connection, List<LockLease> leases, boolean mayWait) {
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
		try (PreparedStatement statement = LockConnections.prepare(connection, statements.claim(), TIMEOUT)) {
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

	@Override
	public boolean isPossible(Connection connection) {
		try (PreparedStatement statement = LockConnections.prepare(connection, statements(connection).readsAreFresh(),
				TIMEOUT)) {
			return finds(statement);
		}
		catch (SQLException ex) {
			logger.debug("A transaction that could not claim does not tell why", ex);
			return true;
		}
	}

	private static boolean isClaimed(Connection connection, FenceStatements statements, LockLease lease)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, statements.ofHolder("1"), TIMEOUT)) {
			statements.setHolder(statement, lease);
			return finds(statement);
		}
	}

	@Override
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

	@Override
	public void committed(List<LockLease> leases) {
		leases.forEach(this.installed::add);
	}

}
