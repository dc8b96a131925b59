package io.github.holdfast.store.session;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.sql.SqlStates;

/**
 * The connection of a {@link Session}, for one user. Closing it rolls back what was not
 * committed, restores what was set, and leaves the session with its locks open.
 *
 * <p>
 * A rollback that the database does not answer, and a commit that it answers by saying
 * that the session had been ended, mean that nothing was committed and the locks are
 * lost. A commit without an answer ends the session: whatever comes of it, the database
 * frees the locks afterwards.
 */
final class SessionConnection implements InvocationHandler, LockingConnection {

	private final Session session;

	private final Connection connection;

	private final AutoCommitMode mode;

	private final LentAutoCommit autoCommit;

	private final LentSettings settings;

	private boolean broken;

	private boolean closed;

	private SessionConnection(Session session, Connection connection, AutoCommitMode mode) {
		this.session = session;
		this.connection = connection;
		this.mode = mode;
		this.autoCommit = new LentAutoCommit(mode);
		this.settings = new LentSettings(connection);
	}

	static Connection create(Session session, Connection connection, AutoCommitMode mode) {
		return (Connection) Proxy.newProxyInstance(SessionConnection.class.getClassLoader(),
				new Class<?>[] { Connection.class, LockingConnection.class },
				new SessionConnection(session, connection, mode));
	}

	@Override
	public boolean holds(LockLease lease) {
		if (isBroken()) {
			this.session.end();
		}
		return !this.session.hasEnded() && this.session.belongsTo(lease.owner());
	}

	private boolean isBroken() {
		try {
			return this.broken || this.connection.isClosed();
		}
		catch (SQLException ex) {
			return true;
		}
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
		Object argument = (args != null && args.length == 1) ? args[0] : null;
		switch (method.getName()) {
			case "equals" -> {
				return proxy == argument;
			}
			case "hashCode" -> {
				return System.identityHashCode(proxy);
			}
			case "toString" -> {
				return "Lock connection " + this.connection;
			}
			case "holds" -> {
				return argument != null && holds((LockLease) argument);
			}
			case "close" -> {
				close();
				return null;
			}
			case "isClosed" -> {
				return this.closed || this.connection.isClosed();
			}
			case "unwrap" -> {
				if (isWrapper(proxy, argument)) {
					return proxy;
				}
			}
			case "isWrapperFor" -> {
				if (isWrapper(proxy, argument)) {
					return true;
				}
			}
			default -> {
			}
		}
		return use(method, args);
	}

	private static boolean isWrapper(Object proxy, @Nullable Object type) {
		return type instanceof Class<?> wanted && wanted.isInstance(proxy);
	}

	private @Nullable Object use(Method method, Object @Nullable [] args) throws SQLException {
		if (this.closed) {
			throw new SQLException("The connection is closed", "08003");
		}
		try {
			if (method.getName().equals("getAutoCommit")) {
				return this.autoCommit.get();
			}
			if (method.getName().equals("setAutoCommit") && args != null) {
				this.autoCommit.set((Boolean) args[0]);
				return null;
			}
			this.autoCommit.beforeUse();
			if (LentSettings.isSetter(method) && args != null) {
				this.settings.set(method, args[0]);
				return null;
			}
			Object result = LentSettings.call(this.connection, method, args);
			this.autoCommit.afterUse(method, result);
			return result;
		}
		catch (SQLException ex) {
			// There are drivers and pools that go on with another session then
			this.broken |= SqlStates.isEndOfSession(ex);
			if (method.getName().equals("commit")) {
				commitFailed(ex);
			}
			if (method.getName().equals("rollback") && args == null) {
				rollbackFailed(ex);
				return null;
			}
			throw ex;
		}
	}

	private void commitFailed(SQLException ex) {
		if (!SqlStates.isRefusal(ex)) {
			this.session.end();
		}
		LockLostException lost = this.session.isTerminated(ex) ? lost(ex) : null;
		if (lost != null) {
			throw lost;
		}
	}

	/**
	 * Nobody needs to know a second time, when what came first is cleaned up.
	 */
	private void rollbackFailed(SQLException ex) {
		boolean known = this.session.hasEnded();
		this.session.end();
		LockLostException lost = known ? null : lost(ex);
		if (lost != null) {
			throw lost;
		}
	}

	private @Nullable LockLostException lost(SQLException cause) {
		String key = null;
		for (HeldLock lock : LockStack.all()) {
			lock.lossReported();
			for (int i = 0; i < lock.leases().size(); i++) {
				if (this.session.belongsTo(lock.leases().get(i).owner())) {
					key = lock.keys().get(i);
					lock.lost(key);
				}
			}
		}
		return (key != null) ? new LockLostException(key, "the database session that held it has ended", cause) : null;
	}

	private void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		if (this.broken) {
			this.session.end();
		}
		try {
			if (!this.session.hasEnded()) {
				restore();
			}
		}
		catch (SQLException ex) {
			this.session.end();
		}
		finally {
			this.session.takeBack();
		}
	}

	private void restore() throws SQLException {
		boolean untouched = this.autoCommit.end();
		if (!untouched && !this.mode.current()) {
			this.connection.rollback();
		}
		this.settings.restore(this.mode);
		if (!untouched) {
			this.mode.need(this.mode.initial());
		}
	}

}
