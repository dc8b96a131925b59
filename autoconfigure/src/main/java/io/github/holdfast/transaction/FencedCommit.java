package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.springframework.jdbc.support.JdbcUtils;

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
	 * Check the lease and commit. After any exception but that of the commit nothing has
	 * been committed, and nothing will be.
	 * @return what has become of it
	 * @throws CommitFailedException if the commit was refused or has an unknown outcome
	 */
	Result send() {
		return Fence.inTransaction(this.commits.dataSource(), this.lease, this::send);
	}

	private Result send(Connection connection) throws SQLException {
		PreparedStatement prepared = null;
		boolean sent = false;
		try {
			prepared = this.commits.prepare(this.statement, connection, this.patience);
			this.commits.fence().setParameters(prepared, connection, this.lease.key(), this.holder);
			sent = true;
			prepared.execute();
			return Result.COMMITTED;
		}
		catch (SQLException ex) {
			boolean open = this.statement.leavesOpen(connection, ex);
			if (sent && !open && !this.statement.isOfCheck(ex) && !this.statement.isUnknownName(ex)) {
				throw failed(connection, ex);
			}
			return checkFailed(connection, ex, open);
		}
		catch (RuntimeException | Error ex) {
			if (sent) {
				throw failed(connection, ex);
			}
			throw ex;
		}
		finally {
			JdbcUtils.closeStatement(prepared);
		}
	}

	/**
	 * The check has failed, so nothing was committed.
	 */
	private Result checkFailed(Connection connection, SQLException failure, boolean open) throws SQLException {
		if (this.statement.isUnknownName(failure)) {
			this.commits.namesForgotten(connection);
		}
		if (this.statement.isLoss(failure)) {
			return Result.LOST;
		}
		if (this.statement.isLockTimeout(failure)) {
			throw failure;
		}
		SQLException meaning = this.commits.fence().meaningOf(connection, this.lease, failure);
		if (open && this.statement.survivesFailures()) {
			boolean held = this.commits.fence().check(this.commits.dataSource(), connection, this.lease, false);
			if (!this.statement.isUnknownName(failure)) {
				this.commits.sendApart(failure);
			}
			return held ? Result.HELD : Result.LOST;
		}
		if (isUnknownStatement(failure)) {
			this.commits.sendApart(failure);
		}
		throw meaning;
	}

	/** Syntax errors and what is not supported. */
	private static boolean isUnknownStatement(SQLException ex) {
		return "42601".equals(ex.getSQLState()) || "0A000".equals(ex.getSQLState());
	}

	/**
	 * Should the transaction still be open, it must not be committed by what Spring does
	 * after a commit that has failed.
	 */
	private CommitFailedException failed(Connection connection, Throwable failure) {
		try {
			connection.rollback();
		}
		catch (SQLException | RuntimeException ex) {
			failure.addSuppressed(ex);
		}
		return this.commits.failed(failure);
	}

	/**
	 * What has become of a commit.
	 */
	enum Result {

		/** It was carried out. The commit that follows has nothing left to do. */
		COMMITTED,

		/** The lease is held, and the commit has to follow. */
		HELD,

		/** The lease has been superseded. */
		LOST

	}

}
