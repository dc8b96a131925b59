package io.github.holdfast.store.session;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.sql.LockConnections.SqlCall;
import io.github.holdfast.store.DaemonThreads;

/**
 * A statement that is cancelled when its thread is interrupted, which drivers do not do
 * by themselves.
 */
final class InterruptibleStatement {

	private static final Logger logger = LoggerFactory.getLogger(InterruptibleStatement.class);

	private static final int THREADS = 2;

	private static final int INTERVAL_MILLIS = 20;

	private static final ScheduledThreadPoolExecutor watcher = DaemonThreads.scheduler("holdfast-interrupt", THREADS);

	private final Statement statement;

	private final Thread thread = Thread.currentThread();

	private boolean ended;

	private boolean cancelled;

	private InterruptibleStatement(Statement statement) {
		this.statement = statement;
	}

	/**
	 * Run a statement on this thread.
	 * @throws InterruptedException if the statement was cancelled; whether it has done
	 * its work is not known
	 */
	static <T> T run(Statement statement, SqlCall<T> call) throws SQLException, InterruptedException {
		InterruptibleStatement running = new InterruptibleStatement(statement);
		running.lookAgain();
		try {
			T result = call.run();
			running.end(null);
			return result;
		}
		catch (SQLException | RuntimeException ex) {
			running.end(ex);
			throw ex;
		}
	}

	private void lookAgain() {
		watcher.schedule(this::look, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
	}

	private synchronized void look() {
		if (this.ended) {
			return;
		}
		if (!this.thread.isInterrupted()) {
			lookAgain();
			return;
		}
		this.cancelled = true;
		try {
			this.statement.cancel();
		}
		catch (SQLException ex) {
			logger.debug("A statement goes on although its thread is interrupted", ex);
		}
	}

	/**
	 * Waits for a cancellation that is under way, so that it does not reach the next
	 * statement.
	 */
	private synchronized void end(@Nullable Exception cause) throws InterruptedException {
		this.ended = true;
		if (this.cancelled) {
			Thread.interrupted();
			throw (InterruptedException) new InterruptedException().initCause(cause);
		}
	}

}
