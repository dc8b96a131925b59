package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.github.holdfast.LockLease;

/**
 * Sends the check of a lease together with the commit, where database and driver allow
 * it: one round trip instead of two. Found out at the first commit.
 */
final class FencedCommits {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuard.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			FencedCommits.class.getClassLoader());

	private final DataSourceTransactionManager manager;

	private final Fence fence;

	private final DataSource dataSource;

	/** Whether Spring would switch auto-commit on again after each commit. */
	private final boolean autoCommit;

	private volatile @Nullable CommitStatement statement;

	/** Whether check and commit are sent apart. */
	private volatile boolean apart;

	private FencedCommits(DataSourceTransactionManager manager, Fence fence, DataSource dataSource) {
		this.manager = manager;
		this.fence = fence;
		this.dataSource = dataSource;
		ConnectionTargets targets = new ConnectionTargets();
		targets.add(dataSource, "its DataSource");
		this.autoCommit = HIKARI && targets.allMatch(HikariPools::autoCommit);
	}

	/**
	 * Those of a transaction manager.
	 * @return the commits, or {@code null} if they have to be left to the manager, as it
	 * is of another class, which may do more than that, or if the fence needs no
	 * statement
	 */
	static @Nullable FencedCommits of(TransactionManager manager, Fence fence, DataSource dataSource) {
		Class<?> type = manager.getClass();
		return (fence.hasRows() && (type == JdbcTransactionManager.class || type == DataSourceTransactionManager.class))
				? new FencedCommits((DataSourceTransactionManager) manager, fence, dataSource) : null;
	}

	/**
	 * Whether there is nothing between a listener and the commit, such as another
	 * listener that still wants to write.
	 */
	boolean comeRightAfter(TransactionExecutionListener listener) {
		TransactionExecutionListener last = null;
		for (TransactionExecutionListener each : this.manager.getTransactionExecutionListeners()) {
			last = each;
		}
		return last == listener;
	}

	/**
	 * Prepare the commit of the running transaction, with everything that may fail before
	 * it is sent.
	 * @return the commit, or {@code null} if the lease has to be checked before
	 */
	@Nullable FencedCommit prepare(LockLease lease) {
		if (this.apart) {
			return null;
		}
		CommitStatement statement = this.statement;
		if (statement == null) {
			statement = Fence.inTransaction(this.dataSource, lease, CommitStatement::of);
			this.statement = statement;
			this.apart = (statement == null);
		}
		return (statement != null) ? new FencedCommit(this, statement, lease, patience()) : null;
	}

	private int patience() {
		return (TransactionSynchronizationManager.getResource(this.dataSource) instanceof ConnectionHolder holder
				&& holder.hasTimeout()) ? Math.min(holder.getTimeToLiveInSeconds(), Fence.TIMEOUT_SECONDS)
						: Fence.TIMEOUT_SECONDS;
	}

	Fence fence() {
		return this.fence;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	String sql(CommitStatement statement, Connection connection, int patience) throws SQLException {
		return statement.sql(this.fence.lockingSelect(connection), patience, this.autoCommit);
	}

	/**
	 * What it means for the caller that a commit has failed. Where the outcome is unknown
	 * a rollback would say nothing about it, so Spring must not take it for known.
	 */
	CommitFailedException failed(Throwable failure) {
		RuntimeException managersOwn = new TransactionSystemException("JDBC commit failed", failure);
		if (CommitFailedException.isRefusal(failure) && failure instanceof SQLException ex
				&& this.manager instanceof JdbcTransactionManager jdbc) {
			DataAccessException translated = jdbc.getExceptionTranslator().translate("JDBC commit", null, ex);
			managersOwn = (translated != null) ? translated : managersOwn;
		}
		return new CommitFailedException(failure, managersOwn);
	}

	/**
	 * Send check and commit apart from now on.
	 */
	void refused(SQLException ex) {
		this.apart = true;
		logger.warn("The database cannot take the check of a lock and the commit in one message: "
				+ "they are sent apart from now on. Set 'holdfast.check-with-commit' to false to have it so at once",
				ex);
	}

	/**
	 * Pools that hand all connections out in the mode that they are set to.
	 */
	private static final class HikariPools {

		static boolean autoCommit(DataSource target) {
			try {
				return target.isWrapperFor(HikariDataSource.class)
						&& target.unwrap(HikariDataSource.class).isAutoCommit();
			}
			catch (SQLException ex) {
				return false;
			}
		}

	}

}
