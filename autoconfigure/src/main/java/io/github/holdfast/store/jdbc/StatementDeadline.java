package io.github.holdfast.store.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * Ends statements that take too long or whose thread was interrupted. One thread watches
 * all of them, so an ordinary statement wakes no thread.
 */
final class StatementDeadline {

	private static final String CANCELLED = "57014";

	private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long CANCEL_AGAIN = TimeUnit.SECONDS.toNanos(1);

	private static final long IDLE = TimeUnit.SECONDS.toNanos(10);

	private static final Set<StatementDeadline> RUNNING = ConcurrentHashMap.newKeySet();

	private static final AtomicBoolean WATCHED = new AtomicBoolean();

	private final Statement statement;

	private final Thread thread = Thread.currentThread();

	private long deadline;

	private State state = State.RUNNING;

	private StatementDeadline(Statement statement, long nanos) {
		this.statement = statement;
		this.deadline = System.nanoTime() + nanos;
	}

	/**
	 * Runs a statement.
	 * @param statement the statement to cancel
	 * @param nanos how long it may take
	 * @param call executes it
	 * @return the result
	 * @throws SQLTimeoutException if it was cancelled
	 */
	static <T extends @Nullable Object> T run(Statement statement, long nanos, SqlCall<T> call) throws SQLException {
		StatementDeadline deadline = new StatementDeadline(statement, nanos);
		try {
			RUNNING.add(deadline);
			if (!WATCHED.get()) {
				Thread watcher = new Thread(StatementDeadline::watch, "holdfast-statement-deadline");
				watcher.setDaemon(true);
				watcher.start();
			}
			return call.run();
		}
		finally {
			RUNNING.remove(deadline);
			deadline.end();
		}
	}

	/**
	 * Whether a statement was cancelled here, so that another attempt would take as long.
	 */
	static boolean isOver(SQLException ex) {
		return ex instanceof SQLTimeoutException && CANCELLED.equals(ex.getSQLState());
	}

	private static void watch() {
		if (!WATCHED.compareAndSet(false, true)) {
			return;
		}
		long idleSince = System.nanoTime();
		while (!RUNNING.isEmpty() || System.nanoTime() - idleSince < IDLE) {
			if (!RUNNING.isEmpty()) {
				idleSince = System.nanoTime();
				RUNNING.forEach(StatementDeadline::look);
			}
			LockSupport.parkNanos(LOOK);
		}
		WATCHED.set(false);
		if (!RUNNING.isEmpty()) {
			watch();
		}
	}

	private synchronized void look() {
		boolean late = System.nanoTime() - this.deadline >= 0;
		boolean again = this.state == State.CANCELLED;
		if (this.state == State.OVER || !late && (again || !this.thread.isInterrupted())) {
			return;
		}
		this.state = State.CANCELLED;
		this.deadline = System.nanoTime() + CANCEL_AGAIN;
		try {
			this.statement.cancel();
			Connection connection = this.statement.getConnection().unwrap(Connection.class);
			Method query = again ? ReflectionUtils.findMethod(connection.getClass(), "cancelQuery") : null;
			if (query != null) {
				// The driver of PostgreSQL cancels each statement once, perhaps too early
				ReflectionUtils.invokeMethod(query, connection);
			}
		}
		catch (SQLException | RuntimeException | Error ex) {
			// Tried again when the deadline has passed once more
		}
	}

	private synchronized void end() throws SQLTimeoutException {
		boolean cancelled = this.state == State.CANCELLED;
		this.state = State.OVER;
		if (cancelled) {
			throw new SQLTimeoutException("Cancelled: its time was over, or its thread was interrupted", CANCELLED);
		}
	}

	private enum State {

		RUNNING, CANCELLED, OVER

	}

	/**
	 * A statement that returns a result.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface SqlCall<T extends @Nullable Object> {

		T run() throws SQLException;

	}

}
