package io.github.holdfast.sql;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sql.LockConnections.SqlCall;
import io.github.holdfast.store.AnswerTimeout;
import io.github.holdfast.store.DaemonThreads;
import io.github.holdfast.store.Deadline;

/**
 * A statement that is cancelled when it takes too long, or when its thread is
 * interrupted, which drivers do not do by themselves. Somebody looks at it now and then,
 * so that the database is told nothing about a statement that is fast.
 *
 * @since 0.3.0
 */
public final class CancellableStatement {

	private static final AnswerTimeout looks = new AnswerTimeout(Duration.ofMillis(50));

	/** Drivers open a connection to cancel, so it is not done on the timer. */
	private static final Executor threads = DaemonThreads.scheduler("holdfast-cancel", 2);

	private final Statement statement;

	private Deadline deadline;

	private final Thread thread = Thread.currentThread();

	private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

	private boolean cancelled;

	private CancellableStatement(Statement statement, Deadline deadline) {
		this.statement = statement;
		this.deadline = deadline;
	}

	/**
	 * Run a statement on this thread.
	 * @param <T> the type of the result
	 * @param statement the statement
	 * @param limit how long it may take, and 50 ms at least
	 * @param call runs it
	 * @return the result
	 * @throws SQLException if the statement fails
	 * @throws SQLTimeoutException if it was cancelled; whether it has done its work is
	 * not known
	 */
	public static <T extends @Nullable Object> T run(Statement statement, Duration limit, SqlCall<T> call)
			throws SQLException {
		CancellableStatement running = new CancellableStatement(statement, Deadline.after(limit));
		running.look();
		try {
			return call.run();
		}
		finally {
			running.end();
		}
	}

	private synchronized void look() {
		if (this.ended.isDone()) {
			return;
		}
		if (this.deadline.hasPassed() || !this.cancelled && this.thread.isInterrupted()) {
			this.cancelled = true;
			this.deadline = Deadline.after(Duration.ofSeconds(1));
			try {
				this.statement.cancel();
			}
			catch (SQLException ex) {
				// Tried again when the deadline has passed, as if it had come too early
			}
		}
		looks.limit(this.ended.copy()).exceptionally((late) -> {
			// exceptionallyAsync would wake a thread for each statement that is fast, too
			threads.execute(this::look);
			return false;
		});
	}

	/**
	 * Waits for a cancellation that is under way, so that it does not reach the next
	 * statement.
	 */
	private synchronized void end() throws SQLTimeoutException {
		this.ended.complete(true);
		if (this.cancelled) {
			throw new SQLTimeoutException("Cancelled, as its time was over or its thread interrupted");
		}
	}

}
