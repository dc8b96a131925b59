package io.github.holdfast.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Polling;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * How callers wait for a row. Up to half of the pool waits in the database, all others
 * without a connection.
 */
final class LockWaits {

	static final long SHORT = TimeUnit.SECONDS.toNanos(5);

	private static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	private final OwnConnections connections;

	private final SingletonSupplier<Integer> poolSize;

	private final SingletonSupplier<Semaphore> places;

	/** For how many rows a thread has its place. */
	private final ThreadLocal<int[]> rows = ThreadLocal.withInitial(() -> new int[1]);

	LockWaits(OwnConnections connections, IntSupplier poolSize) {
		this.connections = connections;
		this.poolSize = SingletonSupplier.of(poolSize::getAsInt);
		this.places = SingletonSupplier.of(() -> new Semaphore(poolSize.getAsInt() / 2));
	}

	OwnConnections connections() {
		return this.connections;
	}

	/**
	 * Asks for the right to wait in the database. A thread that waits for several rows
	 * needs one place.
	 * @return {@code false} if the time is over, or the database cannot end a wait
	 */
	boolean enterDatabase(long nanos) throws InterruptedException {
		int[] rows = this.rows.get();
		if (nanos == 0 || this.poolSize.obtain() < 2 || !this.connections.rows().dialect().cancelsWaits()
				|| rows[0] == 0 && !this.places.obtain().tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
			return false;
		}
		rows[0]++;
		return true;
	}

	void leaveDatabase() {
		if (--this.rows.get()[0] == 0) {
			this.places.obtain().release();
		}
	}

	/**
	 * Polls without a connection in between.
	 * @param question asks once
	 * @return the answer, or {@code null} if the time is over
	 */
	static <T> @Nullable T poll(long nanos, Polling.Question<T> question) throws InterruptedException {
		return POLLING.until(Duration.ofNanos(nanos), (deadline) -> {
			try {
				return question.ask(deadline);
			}
			catch (LockBackendException ex) {
				if (Thread.interrupted()) {
					throw (InterruptedException) new InterruptedException().initCause(ex);
				}
				throw ex;
			}
		});
	}

	/**
	 * Reads a row, and inserts it if it is missing.
	 */
	Look look(String id) throws SQLException {
		return this.connections.repeat(() -> this.connections.call((connection, rows) -> {
			LockRows.Row row = rows.find(connection, id, SHORT);
			if (row == null) {
				rows.insert(connection, id, false, SHORT);
				return Look.MISSING;
			}
			return row.isLeased() ? Look.LEASED : row.hasRunOut() ? Look.RUN_OUT : Look.FREE;
		}));
	}

	/**
	 * Ends a lease that has run out.
	 * @return {@code false} if a transaction of its holder has the row locked
	 */
	boolean expire(String id) throws SQLException {
		return this.connections.inTransaction(
				(connection, rows) -> rows.lockUnlocked(connection, id, SHORT) && rows.expire(connection, id, SHORT));
	}

	/**
	 * Reports an error of the database as a failure of the store.
	 */
	static <T extends @Nullable Object> T ask(String key, String what, StatementDeadline.SqlCall<T> question) {
		try {
			return question.run();
		}
		catch (SQLException ex) {
			throw failed(key, what, ex);
		}
	}

	static LockBackendException failed(String key, String what, SQLException ex) {
		return new LockBackendException(key, what + ": the database failed", ex);
	}

	/**
	 * What a row says.
	 */
	enum Look {

		/** The row was missing and has been inserted. */
		MISSING,

		/** No lease. A transaction may have it. */
		FREE,

		/** A lease that has run out. */
		RUN_OUT,

		/** A lease. */
		LEASED

	}

}
