package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection from the pool that is kept for the sake of its database session.
 */
final class PinnedConnection {

	private static final Logger logger = LoggerFactory.getLogger(Session.class);

	private static final int PING_SECONDS = 5;

	private final Connection connection;

	private final AutoCommitMode mode;

	private final Runnable whenClosed;

	private boolean aborted;

	/**
	 * Take over a connection.
	 * @param connection the connection
	 * @param sendsAutoCommit whether a round trip is needed to switch auto-commit
	 * @param whenClosed is run when the connection is back in its pool
	 */
	PinnedConnection(Connection connection, boolean sendsAutoCommit, Runnable whenClosed) throws SQLException {
		this.connection = connection;
		this.mode = new AutoCommitMode(connection, sendsAutoCommit);
		this.whenClosed = whenClosed;
	}

	Connection get() {
		return this.connection;
	}

	AutoCommitMode mode() {
		return this.mode;
	}

	/**
	 * Ask the database whether the session is still there. The ping of PostgreSQL's
	 * driver is a statement, which may begin a transaction.
	 */
	boolean isAlive() throws SQLException {
		boolean alive = this.connection.isValid(PING_SECONDS);
		if (alive && !this.mode.current()) {
			this.connection.rollback();
		}
		return alive;
	}

	/**
	 * End the session. Pools find out that a connection is broken when it is used.
	 */
	void abort() {
		this.aborted = true;
		try {
			this.connection.abort(Runnable::run);
			try (Statement statement = this.connection.createStatement()) {
				statement.execute("SELECT 1");
			}
			logger.warn("A database session that should have ended still answers: its pool does not forward 'abort'");
		}
		catch (SQLException ex) {
			logger.debug("A database session has been ended", ex);
		}
	}

	/**
	 * Give the connection back to its pool, as it was.
	 */
	void close() {
		try {
			if (!this.aborted) {
				this.mode.need(this.mode.initial());
			}
		}
		catch (SQLException ex) {
			abort();
		}
		try {
			this.connection.close();
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be closed", ex);
		}
		finally {
			this.whenClosed.run();
		}
	}

}
