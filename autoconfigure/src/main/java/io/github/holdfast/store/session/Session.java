package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;

/**
 * A connection from the pool for as long as its database session holds locks. It is lent
 * to one user at a time, and goes back to the pool when the database has said that the
 * last lock is released. If that is not certain, the session is ended.
 */
final class Session {

	private static final Logger logger = LoggerFactory.getLogger(Session.class);

	private final PinnedConnection connection;

	private final SessionDialect dialect;

	private final Map<String, Session> owners;

	private final ReentrantLock mutex = new ReentrantLock();

	/** How often each lock is held, as two keys may have the same one. */
	private final Map<String, Integer> locks = new HashMap<>();

	private final List<String> releasedWhileLent = new ArrayList<>();

	private boolean lent;

	private boolean closed;

	private volatile boolean ended;

	/**
	 * Create a session without locks. It is closed when its last lock is released, and
	 * when it did not get its first one.
	 * @param connection the connection
	 * @param dialect the words of the database
	 * @param owners the sessions of all leases by their owners
	 */
	Session(PinnedConnection connection, SessionDialect dialect, Map<String, Session> owners) {
		this.connection = connection;
		this.dialect = dialect;
		this.owners = owners;
	}

	/**
	 * Take one more lock, unless this session is in use.
	 * @return the lease, or {@code null} if the lock was not free in time
	 * @throws SQLException if the database failed; the lock is not held then
	 */
	@Nullable SessionLease take(LockRequest request, String id, Deadline deadline) throws SQLException, InterruptedException {
		this.mutex.lock();
		try {
			if (!this.locks.containsKey(id) && !await(id, deadline)) {
				return null;
			}
			this.locks.merge(id, 1, Integer::sum);
			SessionLease lease = new SessionLease(request, this, id, nextEpoch(request, id));
			this.owners.put(request.owner(), this);
			return lease;
		}
		finally {
			afterUse();
			this.mutex.unlock();
		}
	}

	private boolean await(String id, Deadline deadline) throws SQLException, InterruptedException {
		try {
			beforeUse();
			return new SessionWait(this.connection.get(), this.dialect, id).await(deadline);
		}
		catch (SQLException | RuntimeException | Error ex) {
			end();
			throw ex;
		}
	}

	private long nextEpoch(LockRequest request, String id) throws SQLException {
		try {
			beforeUse();
			return this.dialect.epochs().next(this.connection.get(), request);
		}
		catch (SQLException ex) {
			unlock(id);
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			end();
			throw ex;
		}
	}

	/**
	 * Give back one lock; if the connection is in use, as soon as it is not.
	 * @return {@code false} if the session had ended
	 */
	boolean release(String owner, String id) {
		this.mutex.lock();
		try {
			this.owners.remove(owner);
			if (this.lent && !this.ended) {
				this.releasedWhileLent.add(id);
				return true;
			}
			return unlock(id);
		}
		finally {
			afterUse();
			this.mutex.unlock();
		}
	}

	private boolean unlock(String id) {
		if (this.ended) {
			return false;
		}
		if (this.locks.merge(id, -1, Integer::sum) > 0) {
			return true;
		}
		this.locks.remove(id);
		try {
			beforeUse();
			if (this.dialect.unlock(this.connection.get(), id)) {
				return true;
			}
			logger.warn("A database session did not hold a lock that it had been granted. "
					+ "Something between the application and the database changes sessions on the way");
		}
		catch (SQLException ex) {
			logger.debug("A database session ended while it held a lock", ex);
		}
		catch (RuntimeException | Error ex) {
			end();
			throw ex;
		}
		end();
		return false;
	}

	/**
	 * Lend the connection.
	 * @return a connection that ends the loan when it is closed, or {@code null} if this
	 * one is in use or its session has ended
	 */
	@Nullable Connection lend() {
		this.mutex.lock();
		try {
			if (this.lent || this.ended || this.closed) {
				return null;
			}
			this.lent = true;
			return SessionConnection.create(this, this.connection.get(), this.connection.mode());
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Take the connection back from the one it was lent to.
	 */
	void takeBack() {
		this.mutex.lock();
		try {
			this.lent = false;
			this.releasedWhileLent.forEach(this::unlock);
			this.releasedWhileLent.clear();
		}
		finally {
			afterUse();
			this.mutex.unlock();
		}
	}

	boolean isFree() {
		return locked(() -> !this.lent && !this.ended && !this.closed);
	}

	boolean has(String id) {
		return locked(() -> this.locks.containsKey(id));
	}

	private boolean locked(BooleanSupplier question) {
		this.mutex.lock();
		try {
			return question.getAsBoolean();
		}
		finally {
			this.mutex.unlock();
		}
	}

	boolean hasEnded() {
		return this.ended;
	}

	boolean isTerminated(SQLException ex) {
		return this.dialect.isTerminated(ex);
	}

	boolean belongsTo(String owner) {
		return this.owners.get(owner) == this;
	}

	/**
	 * Ask the database whether the session is still there, unless it is in use.
	 */
	boolean isAlive() {
		this.mutex.lock();
		try {
			if (!this.ended && !this.lent && !this.connection.isAlive()) {
				end();
			}
			return !this.ended;
		}
		catch (SQLException ex) {
			end();
			return false;
		}
		finally {
			afterUse();
			this.mutex.unlock();
		}
	}

	/**
	 * End the session, so that the database rolls back and frees all of its locks.
	 */
	void end() {
		this.mutex.lock();
		try {
			if (!this.ended) {
				this.ended = true;
				this.locks.clear();
				this.connection.abort();
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * The statements of locks must not begin a transaction.
	 */
	private void beforeUse() throws SQLException {
		if (!this.ended && !this.lent) {
			this.connection.mode().need(true);
		}
	}

	private void afterUse() {
		if (!this.lent && !this.closed && this.locks.isEmpty()) {
			this.closed = true;
			this.connection.close();
		}
	}

}
