package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.sql.CancellableStatement;
import io.github.holdfast.store.Deadline;

/**
 * The wait for a lock of a session. The database waits, and keeps the order of those that
 * do.
 *
 * @param connection the connection of the session, in auto-commit mode
 * @param dialect the words of the database
 * @param id the name of the lock, which the session does not hold yet
 */
record SessionWait(Connection connection, SessionDialect dialect, String id) {

	private static final Logger logger = LoggerFactory.getLogger(SessionWait.class);

	private static final Duration LONGEST = Duration.ofHours(1);

	/** For servers that round the time of a wait down. */
	private static final long PAUSE_MILLIS = 10;

	/**
	 * Wait for the lock, or only ask if no time is left.
	 * @return whether the session has it
	 * @throws SQLException if the database failed; whether the session has the lock is
	 * not known then
	 * @throws InterruptedException if the thread was interrupted; the session does not
	 * have the lock
	 */
	boolean await(Deadline deadline) throws SQLException, InterruptedException {
		if (this.dialect.tryLock(this.connection, this.id)) {
			return true;
		}
		try {
			while (!deadline.hasPassed()) {
				if (lock(deadline.remaining())) {
					return true;
				}
				TimeUnit.MILLISECONDS.sleep(Math.min(PAUSE_MILLIS, deadline.remaining().toMillis()));
			}
			return false;
		}
		catch (SQLException ex) {
			if (!this.dialect.isDeadlock(ex)) {
				throw ex;
			}
			logger.warn("The database has ended a deadlock of locks by not granting one: {}", ex.getMessage());
			this.dialect.unlock(this.connection, this.id);
			return false;
		}
		catch (InterruptedException ex) {
			abandon();
			throw ex;
		}
	}

	private boolean lock(Duration remaining) throws SQLException, InterruptedException {
		Duration wait = (remaining.compareTo(LONGEST) < 0) ? remaining : LONGEST;
		try (PreparedStatement statement = this.dialect.prepareLock(this.connection, this.id, wait)) {
			return CancellableStatement.run(statement, LONGEST.plus(LONGEST), () -> SessionDialect.answer(statement));
		}
		catch (SQLException ex) {
			if (Thread.interrupted()) {
				throw (InterruptedException) new InterruptedException().initCause(ex);
			}
			if (!this.dialect.isEndOfWait(ex)) {
				throw ex;
			}
			// PostgreSQL may have granted the lock at the same moment, and keeps it then
			this.dialect.unlock(this.connection, this.id);
			return false;
		}
	}

	/**
	 * The lock may have been granted just before the statement was cancelled, and a
	 * cancellation that came too late may hit the next statement.
	 */
	private void abandon() throws SQLException {
		try {
			this.dialect.sessionId(this.connection);
		}
		catch (SQLException ex) {
			if (!this.dialect.isEndOfWait(ex)) {
				throw ex;
			}
		}
		this.dialect.unlock(this.connection, this.id);
	}

}
