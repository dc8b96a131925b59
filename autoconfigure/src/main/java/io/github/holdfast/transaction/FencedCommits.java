package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

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
 * Sends the check of a lease together with the commit, one round trip instead of two,
 * where this is possible:
 *
 * <ul>
 * <li>The manager is one of Spring's for JDBC, and no subclass that may do more at a
 * commit.
 * <li>The connections are those of HikariCP, and not of a wrapper that may do something
 * of its own when it is asked to commit.
 * <li>Database and driver can do it, which is found out at the first commit.
 * </ul>
 */
final class FencedCommits {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuard.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			FencedCommits.class.getClassLoader());

	private final DataSourceTransactionManager manager;

	private final Fence fence;

	private final HikariDataSource dataSource;

	/** Empty if check and commit have to be sent apart. */
	private volatile @Nullable Optional<CommitStatement> statement;

	/** By their texts, which contain how long to wait. */
	private final Map<String, NamedStatement> named = new ConcurrentHashMap<>();

	private volatile boolean sendsTexts;

	private FencedCommits(DataSourceTransactionManager manager, Fence fence, HikariDataSource dataSource) {
		this.manager = manager;
		this.fence = fence;
		this.dataSource = dataSource;
	}

	/**
	 * Those of a transaction manager.
	 * @return the commits, or an empty optional if they have to be left to the manager
	 */
	static Optional<FencedCommits> of(TransactionManager manager, Fence fence, DataSource dataSource) {
		Class<?> type = manager.getClass();
		if (HIKARI && fence.hasRows() && dataSource.getClass() == HikariDataSource.class
				&& (type == JdbcTransactionManager.class || type == DataSourceTransactionManager.class)) {
			return Optional
				.of(new FencedCommits((DataSourceTransactionManager) manager, fence, (HikariDataSource) dataSource));
		}
		logger.info("The check of the fence and the commit are sent apart by {} with {}", type.getName(),
				dataSource.getClass().getName());
		return Optional.empty();
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
		Optional<CommitStatement> statement = this.statement;
		if (statement == null) {
			statement = Fence.inTransaction(this.dataSource, lease, this::statementOf);
			this.statement = statement;
			if (statement.isEmpty()) {
				logger.info("The check of the fence and the commit are sent apart with this database or driver");
			}
		}
		return statement.isPresent() ? new FencedCommit(this, statement.get(), lease, patience()) : null;
	}

	private Optional<CommitStatement> statementOf(Connection connection) throws SQLException {
		CommitStatement statement = CommitStatement.of(connection);
		this.sendsTexts = statement != null && statement.sendsTexts(connection);
		return Optional.ofNullable(statement);
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

	PreparedStatement prepare(CommitStatement statement, Connection connection, int patience) throws SQLException {
		String sql = statement.sql(this.fence.lockingSelect(connection), patience, this.dataSource.isAutoCommit());
		return this.sendsTexts ? this.named.computeIfAbsent(sql, NamedStatement::new).prepare(connection)
				: connection.prepareStatement(sql);
	}

	/**
	 * A session has forgotten the names of its statements.
	 */
	void namesForgotten(Connection connection) throws SQLException {
		for (NamedStatement statement : this.named.values()) {
			statement.forgotten(connection);
		}
	}

	/**
	 * What it means for the caller that a commit has failed. Where the outcome is unknown
	 * a rollback would say nothing about it, so Spring must not take it for known.
	 */
	CommitFailedException failed(Throwable failure) {
		RuntimeException managersOwn = new TransactionSystemException("JDBC commit failed", failure);
		if (CommitRefusal.isRefusal(failure) && failure instanceof SQLException ex
				&& this.manager instanceof JdbcTransactionManager jdbc) {
			DataAccessException translated = jdbc.getExceptionTranslator().translate("JDBC commit", null, ex);
			managersOwn = (translated != null) ? translated : managersOwn;
		}
		return new CommitFailedException(failure, managersOwn);
	}

	void sendApart(SQLException ex) {
		this.statement = Optional.empty();
		logger.warn("The database cannot take the check of a lock and the commit in one message: they are sent apart "
				+ "from now on. Remove 'holdfast.check-with-commit' to have it so at once", ex);
	}

}
