package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;

import org.jspecify.annotations.Nullable;
import org.mybatis.spring.SqlSessionHolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.github.holdfast.LockException;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockRule;
import io.github.holdfast.jpa.IsolatedContexts;
import io.github.holdfast.jpa.JoinedContext;
import io.github.holdfast.jpa.PersistenceContext;

/**
 * Sees to it that <b>nothing is pending outside of a lock</b> on what Spring has bound to
 * the thread. When a lock is acquired, no connection or session there carries a snapshot
 * or data from before; when it is given back, nothing that was written under it is left
 * to be sent or committed.
 *
 * <p>
 * Connections of running transactions are the business of {@link ActiveTransactionRule}
 * and of the guard at their commits. What is left are those that are bound without a
 * transaction, by a method of propagation {@code SUPPORTS} or for open-in-view: in a pool
 * without auto-commit, whatever is done there opens a transaction that nobody commits,
 * and that is rolled back. The connection goes back to its pool, so that a call never
 * waits for a second one while it keeps the one of the scope or view. MyBatis sessions
 * forget what they have read, and send the statements of a batch. JPA contexts that
 * commit on a connection of their own are refused.
 *
 * @since 0.2.0
 */
public final class BoundResourcesRule implements LockRule {

	private static final Logger logger = LoggerFactory.getLogger(BoundResourcesRule.class);

	private static final boolean JDBC = isPresent("org.springframework.jdbc.datasource.ConnectionHolder");

	private static final boolean JPA = isPresent("org.springframework.orm.jpa.EntityManagerHolder")
			&& isPresent("jakarta.persistence.EntityManager");

	private static final boolean MYBATIS = isPresent("org.mybatis.spring.SqlSessionHolder");

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, BoundResourcesRule.class.getClassLoader());
	}

	/**
	 * Whether a JPA session of this thread holds changes that a later transaction would
	 * write.
	 */
	static boolean isAnythingLeft() {
		return JPA && PersistenceContext.usedBy(null).stream().anyMatch(PersistenceContext::hasChangesForLater);
	}

	/**
	 * Check that no JPA session that waits for the end of a locked call has been changed
	 * meanwhile: the change would be written later without the lock, and the transaction
	 * that is about to commit does not have it.
	 */
	static void checkWaiting(HeldLock lock) {
		if (JPA && IsolatedContexts.isAnyWaitingChanged()) {
			throw new IllegalStateException(described(lock.keys().get(0), lock.name())
					+ " guards a transaction, in which an entity was changed that was read before the lock, so that "
					+ "the change is not a part of it. It was rolled back. Pass the id of the entity to the locked "
					+ "method, read it there, and change that");
		}
	}

	/**
	 * Refuse a commit after which a context that has joined the transaction is committed
	 * on another connection, where nothing is checked any more.
	 */
	static IllegalStateException joined(HeldLock lock) {
		return new IllegalStateException(described(lock.keys().get(0), lock.name()) + " guards a transaction that "
				+ JoinedContext.DESCRIPTION
				+ " has joined, which Spring commits on a connection of its own after the commit that is checked. "
				+ "It was rolled back. Inject the EntityManager without a type");
	}

	private static String described(String key, String name) {
		return "Lock " + LockException.quote(key) + " (" + name + ")";
	}

	@Override
	public void beforeAcquire(Attempt attempt) {
		if (JoinedContext.isAny()) {
			throw new IllegalStateException(described(attempt.keys().get(0), attempt.name()) + " finds "
					+ JoinedContext.DESCRIPTION + " that has joined the transaction around it, or a scope without one: "
					+ "what is written to it under the lock would be committed after the release. "
					+ "Inject the EntityManager without a type, or call the method without that transaction around it");
		}
		Collection<Object> resources = TransactionSynchronizationManager.getResourceMap().values();
		if (!resources.isEmpty()) {
			if (MYBATIS) {
				resources.forEach(MyBatis::forget);
			}
			settle(resources);
		}
	}

	@Override
	public void beforeRelease(HeldLock lock) {
		Collection<Object> resources = TransactionSynchronizationManager.getResourceMap().values();
		if (!resources.isEmpty()) {
			if (MYBATIS && !isInSqlTransaction()) {
				resources.forEach(MyBatis::send);
			}
			settle(resources);
			refuseToCommitLater(lock);
		}
	}

	private static void refuseToCommitLater(HeldLock lock) {
		if (JoinedContext.isAny() && isWithoutTransaction()) {
			JoinedContext.setRollbackOnly();
			throw new IllegalStateException(described(lock.keys().get(0), lock.name()) + " ends while "
					+ JoinedContext.DESCRIPTION + " has joined a scope without a transaction, which would commit it "
					+ "after the release. It will be rolled back. Declare the locked method @Transactional, and inject "
					+ "the EntityManager without a type");
		}
	}

	private static void settle(Collection<Object> resources) {
		if (JDBC && isWithoutTransaction()) {
			resources.forEach(Jdbc::rollBack);
			Jdbc.giveBack();
		}
		if (JPA) {
			PersistenceContext.boundWithoutTransaction().forEach(PersistenceContext::giveUpConnection);
		}
	}

	/**
	 * Whether the thread is in a scope of synchronizations without a transaction.
	 */
	private static boolean isWithoutTransaction() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				&& !TransactionSynchronizationManager.isActualTransactionActive() && TransactionStack.current() == null
				&& TransactionStack.hidden() == null;
	}

	/**
	 * Whether the thread is in a transaction that sends what a session has gathered
	 * before its checked commit. One without a SQL database sends it later, too, but
	 * unchecked.
	 */
	private static boolean isInSqlTransaction() {
		RunningTransaction running = TransactionStack.current();
		return (running != null && running.isSql()) || TransactionStack.hidden() != null;
	}

	/**
	 * Apart, as these classes need not be there.
	 */
	private static final class Jdbc {

		static void rollBack(@Nullable Object resource) {
			if (!(resource instanceof ConnectionHolder holder) || !holder.isSynchronizedWithTransaction()
					|| holder.getConnectionHandle() == null) {
				return;
			}
			try {
				Connection connection = holder.getConnection();
				if (!connection.getAutoCommit()) {
					connection.rollback();
				}
			}
			catch (SQLException ex) {
				logger.debug("A broken connection has nothing to roll back", ex);
			}
		}

		/**
		 * As a suspension does, of those that nobody works with: the next statement gets
		 * another one, and a call never waits for a second one while it keeps the first.
		 */
		static void giveBack() {
			for (TransactionSynchronization callback : TransactionSynchronizationManager.getSynchronizations()) {
				if (callback.getClass().getEnclosingClass() == DataSourceUtils.class) {
					callback.suspend();
					callback.resume();
				}
			}
		}

	}

	private static final class MyBatis {

		static void forget(@Nullable Object resource) {
			if (resource instanceof SqlSessionHolder holder) {
				holder.getSqlSession().clearCache();
			}
		}

		static void send(@Nullable Object resource) {
			if (resource instanceof SqlSessionHolder holder) {
				holder.getSqlSession().flushStatements();
			}
		}

	}

}
