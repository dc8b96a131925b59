package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.springframework.jdbc.datasource.DataSourceUtils;

import io.github.holdfast.LockLease;

/**
 * The commit of one transaction, which the database carries out only if a lease is the
 * latest one of its key.
 */
final class FencedCommit {

	private final FencedCommits commits;

	private final CommitStatement statement;

	private final LockLease lease;

	private final FenceEntry holder;

	private final int patience;

	FencedCommit(FencedCommits commits, CommitStatement statement, LockLease lease, int patience) {
		this.commits = commits;
		this.statement = statement;
		this.lease = lease;
		this.holder = new FenceEntry(lease.epoch(), lease.owner());
		this.patience = patience;
	}

	/**
	 * Check the lease and commit. The commit that follows has nothing left to do.
	 * @return {@code false} if the lease has been superseded; then nothing was committed,
	 * and the transaction is still open
	 * @throws CommitFailedException if the commit was refused or has an unknown outcome
	 */
	boolean send() {
		return Fence.inTransaction(this.commits.dataSource(), this.lease, this::send);
	}

	private boolean send(Connection connection) throws SQLException {
		Fence fence = this.commits.fence();
		String sql = this.commits.sql(this.statement, connection, this.patience);
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			fence.setParameters(statement, fence.dialect(connection), this.lease.key(), this.holder);
			statement.execute();
			return true;
		}
		catch (SQLException ex) {
			return !this.statement.isLoss(ex) && goesOn(connection, ex);
		}
		catch (RuntimeException | Error ex) {
			throw this.commits.failed(ex);
		}
	}

	/**
	 * Whether the transaction may be committed after a failure, by what follows.
	 */
	private boolean goesOn(Connection connection, SQLException ex) throws SQLException {
		if (!this.statement.failedBeforeCommit(connection, ex)) {
			throw this.commits.failed(ex);
		}
		if (!isUnknownStatement(ex)) {
			throw this.commits.fence().failed(connection, this.lease, ex);
		}
		this.commits.refused(ex);
		return this.commits.fence().check(this.commits.dataSource(), connection, this.lease, false);
	}

	/** Syntax errors and what is not supported or allowed. */
	private static boolean isUnknownStatement(SQLException ex) {
		String state = String.valueOf(ex.getSQLState());
		return state.startsWith("42") || state.startsWith("0A");
	}

}
