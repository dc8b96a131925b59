package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import io.github.holdfast.LockLease;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.sql.OwnConnections;

/**
 * A pool whose connections also hold locks, see {@link JdbcSessionLockBackend}. Code that
 * runs under such a lock, on the thread that holds it, gets the connection of the lock;
 * if that one is in use, and everywhere else, a connection of the pool.
 *
 * <p>
 * Safe for use by many threads.
 *
 * @since 0.2.0
 */
public final class SessionDataSource extends DelegatingDataSource {

	private final Map<String, Session> sessions = new ConcurrentHashMap<>();

	private SessionDataSource(DataSource pool) {
		super(pool);
	}

	/**
	 * Let the connections of a DataSource hold locks. Spring's own proxies stay outside,
	 * as they are to see one connection in each transaction.
	 * @param dataSource a pool, or a proxy around one
	 * @return the DataSource to use instead
	 */
	public static DataSource around(DataSource dataSource) {
		if (find(dataSource) != null) {
			return dataSource;
		}
		Class<?> type = dataSource.getClass();
		if ((type == TransactionAwareDataSourceProxy.class || type == LazyConnectionDataSourceProxy.class)
				&& dataSource instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			proxy.setTargetDataSource(around(proxy.getTargetDataSource()));
			return proxy;
		}
		return new SessionDataSource(dataSource);
	}

	static @Nullable SessionDataSource find(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(SessionDataSource.class) ? dataSource.unwrap(SessionDataSource.class) : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	@Override
	public Connection getConnection() throws SQLException {
		for (HeldLock lock : LockStack.all()) {
			for (LockLease lease : lock.leases()) {
				Session session = this.sessions.get(lease.owner());
				Connection connection = (session != null) ? session.lend() : null;
				if (connection != null) {
					return connection;
				}
			}
		}
		return super.getConnection();
	}

	/**
	 * A connection of the pool, whatever locks the thread holds.
	 */
	Connection openOwn() throws SQLException {
		return OwnConnections.open(obtainTargetDataSource());
	}

	Session openSession(SessionDialect dialect, Runnable whenClosed) throws SQLException {
		Connection connection = openOwn();
		try {
			return new Session(new PinnedConnection(connection, dialect.sendsAutoCommit(), whenClosed), dialect,
					this.sessions);
		}
		catch (SQLException | RuntimeException | Error ex) {
			connection.close();
			throw ex;
		}
	}

	@Nullable Session sessionOf(LockLease lease) {
		return this.sessions.get(lease.owner());
	}

}
