package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.sql.DatabaseProbe;
import io.github.holdfast.store.Deadline;

/**
 * Locks of database sessions: advisory locks of PostgreSQL, {@code GET_LOCK} of MySQL and
 * MariaDB. The connection that holds a lock is the one on which transactions under it
 * run. If its session ends, the database rolls the transaction back and then frees the
 * lock, so that no holder ever commits without its lock.
 *
 * <p>
 * Such a lock lives as long as its session; the lease time is ignored. Each lock takes a
 * connection of the pool while it is held or waited for; locks that are taken under
 * another one use its connection. The epoch is kept in the table {@code holdfast_lock}.
 *
 * <p>
 * The {@code DataSource} must be a {@link SessionDataSource} or a proxy around one.
 *
 * @since 0.2.0
 */
public final class JdbcSessionLockBackend implements LockBackend {

	private final Supplier<SessionDataSource> dataSource;

	private final Supplier<Semaphore> permits;

	private volatile @Nullable Database database;

	/**
	 * Create a backend.
	 * @param dataSource supplies the database, at the first use
	 * @param maxSessions supplies how many connections may hold locks or wait for them at
	 * the same time, at the first use
	 */
	public JdbcSessionLockBackend(Supplier<DataSource> dataSource, IntSupplier maxSessions) {
		this.dataSource = SingletonSupplier.of(() -> sessions(dataSource.get()));
		this.permits = SingletonSupplier.of(() -> new Semaphore(maxSessions.getAsInt(), true));
	}

	private static SessionDataSource sessions(DataSource dataSource) {
		SessionDataSource sessions = SessionDataSource.find(dataSource);
		if (sessions == null) {
			throw new LockConfigurationException(
					"The DataSource of the locks (" + dataSource.getClass().getName()
							+ ") was created before its connections could be made to hold locks.",
					"Let no BeanPostProcessor and no BeanFactoryPostProcessor depend on it, "
							+ "or set 'holdfast.jdbc.mode' to 'table'.");
		}
		return sessions;
	}

	/**
	 * Check that each connection has a session of its own, which poolers between the
	 * application and the database may change with each transaction. Takes two
	 * connections at the same time, if there are two.
	 * @param poolSize how many connections the pool has at most
	 * @throws SQLException if the database is unreachable
	 * @throws LockConfigurationException if locks cannot be kept in sessions
	 */
	public void checkSessions(int poolSize) throws SQLException {
		SessionDialect dialect = database().dialect();
		try (Connection connection = this.dataSource.get().openOwn()) {
			boolean autoCommit = connection.getAutoCommit();
			long session = session(connection, dialect, autoCommit);
			if ((poolSize > 1) ? changesBesides(connection, dialect, session)
					: session(connection, dialect, autoCommit) != session) {
				throw new LockConfigurationException(
						"Connections of the DataSource change their database session between transactions, "
								+ "so that sessions cannot hold locks.",
						"Let them lead to the database directly, or through a pooler in session mode "
								+ "('pool_mode = session' of PgBouncer), or set 'holdfast.jdbc.mode' to 'table'.");
			}
		}
	}

	/**
	 * A pooler has little choice until somebody else has a transaction open.
	 */
	private boolean changesBesides(Connection connection, SessionDialect dialect, long session) throws SQLException {
		try (Connection other = this.dataSource.get().openOwn()) {
			boolean autoCommit = other.getAutoCommit();
			other.setAutoCommit(false);
			long otherSession = dialect.sessionId(other);
			long now = session(connection, dialect, connection.getAutoCommit());
			other.rollback();
			other.setAutoCommit(autoCommit);
			return now != session || now == otherSession;
		}
	}

	private static long session(Connection connection, SessionDialect dialect, boolean autoCommit) throws SQLException {
		long session = dialect.sessionId(connection);
		if (!autoCommit) {
			connection.rollback();
		}
		return session;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		return acquire(request, List.of());
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request, List<LockLease> held) throws InterruptedException {
		Deadline deadline = Deadline.after(request.waitTime());
		try {
			Database database = database();
			String id = database.dialect().id(database.namespace(), request.key());
			Session session = session(request, id, held);
			if (session == null) {
				session = open(database.dialect(), request, deadline);
			}
			return session.take(request, id, deadline);
		}
		catch (SQLException ex) {
			if (Thread.interrupted()) {
				throw (InterruptedException) new InterruptedException().initCause(ex);
			}
			throw new LockBackendException(request.key(), "could not be acquired, the database failed", ex);
		}
	}

	/**
	 * A session of the same call, so that one transaction can have all of its locks.
	 */
	private @Nullable Session session(LockRequest request, String id, List<LockLease> held) {
		Session free = null;
		for (LockLease lease : held) {
			Session session = this.dataSource.get().sessionOf(lease);
			if (session != null && session.has(id)) {
				if (session.isFree()) {
					return session;
				}
				throw new LockBackendException(request.key(),
						"has the same hash as '" + lease.key() + "', whose connection is in use", null);
			}
			if (free == null && session != null && session.isFree()) {
				free = session;
			}
		}
		return free;
	}

	private Session open(SessionDialect dialect, LockRequest request, Deadline deadline)
			throws SQLException, InterruptedException {
		Semaphore permits = this.permits.get();
		if (!permits.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
			throw new LockBackendException(request.key(),
					"could not be acquired, as 'holdfast.jdbc.max-sessions' connections hold locks or wait for them",
					null);
		}
		boolean opened = false;
		try {
			Session session = this.dataSource.get().openSession(dialect, permits::release);
			opened = true;
			return session;
		}
		finally {
			if (!opened) {
				permits.release();
			}
		}
	}

	private Database database() throws SQLException {
		Database database = this.database;
		if (database == null) {
			try (Connection connection = this.dataSource.get().openOwn()) {
				SessionDialect dialect = SessionDialect.of(connection);
				database = new Database(dialect, dialect.namespace(connection));
				this.database = database;
			}
		}
		return database;
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		try {
			SessionDialect dialect = database().dialect();
			try (Connection connection = this.dataSource.get().openOwn()) {
				return dialect.epochs().lastHolder(connection, key);
			}
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * The database rolls a transaction back with its session, which is what keeps its
	 * holder from committing without the lock. Nothing else may take it away.
	 */
	@Override
	public Eviction evict(String key, String owner, long epoch) {
		throw new UnsupportedOperationException(
				"The lock belongs to a session of the database: end that session there, or the process that has it");
	}

	@Override
	public @Nullable Status probe(String key) {
		return DatabaseProbe.ask(key, "sessions", () -> this.dataSource.get().openOwn());
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.SAME_SESSION);
	}

	@Override
	public String name() {
		return "jdbc";
	}

	@Override
	public String toString() {
		return "backend 'jdbc' in session mode";
	}

	/**
	 * The database of the locks.
	 *
	 * @param dialect its words
	 * @param namespace what tells its locks from those of others on the same server
	 */
	private record Database(SessionDialect dialect, String namespace) {
	}

}
