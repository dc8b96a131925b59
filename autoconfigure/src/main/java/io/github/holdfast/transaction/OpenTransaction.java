package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import javax.sql.DataSource;

import io.github.holdfast.LockMode;
import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockCall.Result;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.store.jdbc.SqlDialect;
import io.github.holdfast.store.jdbc.TransactionLock;
import io.github.holdfast.transaction.GuardedManagers.GuardedManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction that began under locks, with the rows that it has claimed. The open
 * transactions of a thread form a stack.
 *
 * <p>
 * A synchronization notes the end, because Spring calls listeners only after all
 * callbacks.
 */
final class OpenTransaction implements TransactionSynchronization, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(OpenTransaction.class);

	private static final ThreadLocal<@Nullable OpenTransaction> INNERMOST = new ThreadLocal<>();

	private final GuardedManager manager;

	private final TransactionExecution execution;

	private final @Nullable OpenTransaction outer = innermost();

	private final List<LockCall> calls;

	private final List<Claim> claims = new ArrayList<>(1);

	private final List<Claim> outerClaims = new ArrayList<>(0);

	private final List<Runnable> whenOver = new ArrayList<>(0);

	private final @Nullable Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();

	private final @Nullable Object holder;

	private @Nullable Connection connection;

	private @Nullable Connection session;

	private @Nullable RuntimeException failure;

	private State state = State.OPEN;

	private OpenTransaction(GuardedManager manager, TransactionExecution execution, List<LockCall> calls) {
		this.manager = manager;
		this.execution = execution;
		this.calls = calls;
		this.holder = (manager.dataSource() != null)
				? TransactionSynchronizationManager.getResource(manager.dataSource()) : null;
	}

	/**
	 * Notes that a transaction has begun under the locks of the current thread.
	 */
	static OpenTransaction begin(GuardedManager manager, TransactionExecution execution) {
		List<LockCall> calls = new ArrayList<>(2);
		for (LockCall call = LockCall.current(); call != null; call = call.outer()) {
			calls.add(0, call);
		}
		OpenTransaction open = new OpenTransaction(manager, execution, calls);
		INNERMOST.set(open);
		TransactionSynchronizationManager.registerSynchronization(open);
		return open;
	}

	/**
	 * Spring does not report all ends to listeners.
	 */
	private static @Nullable OpenTransaction innermost() {
		OpenTransaction open = INNERMOST.get();
		while (open != null && open.execution.isCompleted()) {
			open.over(false);
			open = INNERMOST.get();
		}
		return open;
	}

	private static @Nullable OpenTransaction find(@Nullable OpenTransaction first,
			Predicate<OpenTransaction> condition) {
		OpenTransaction open = first;
		while (open != null && !condition.test(open)) {
			open = open.outer;
		}
		return open;
	}

	/**
	 * The open transaction of a status.
	 * @return {@code null} if it did not begin under a lock
	 */
	static @Nullable OpenTransaction of(TransactionExecution execution) {
		return find(INNERMOST.get(), (open) -> open.execution == execution);
	}

	/**
	 * The outermost transaction of this thread that began under a call and is not over.
	 */
	static @Nullable OpenTransaction under(LockCall call) {
		OpenTransaction outermost = null;
		for (OpenTransaction open = innermost(); open != null; open = open.outer) {
			outermost = open.calls.contains(call) ? open : outermost;
		}
		return outermost;
	}

	/**
	 * Whether an open transaction of this thread has claimed a key.
	 */
	static boolean isClaimed(LockSettings settings, String key) {
		return find(innermost(), (open) -> !open.hasEnded() && open.claims.stream()
			.anyMatch((claim) -> claim.grant.request().key().equals(settings.storedKey(key)))) != null;
	}

	/**
	 * Whether a transaction of this thread has a resource. A method that suspends a
	 * transaction of another database hides that, but not the connection.
	 */
	static boolean isBound(Object resourceFactory) {
		Object resource = TransactionSynchronizationManager.getResource(resourceFactory);
		return resource != null && (TransactionSynchronizationManager.isActualTransactionActive()
				|| resource instanceof ConnectionHolder jdbc && !isAutoCommit(jdbc)
						&& !ManagedDataSource.isWithoutAutoCommit(resourceFactory));
	}

	private static boolean isAutoCommit(ConnectionHolder holder) {
		try {
			return holder.getConnection().getAutoCommit();
		}
		catch (IllegalStateException | SQLException ex) {
			// It has no connection, or a broken one
			return true;
		}
	}

	/**
	 * The connection of the transaction.
	 */
	Connection connection() throws SQLException {
		DataSource dataSource = Objects.requireNonNull(this.manager.dataSource());
		Connection connection = this.connection;
		// JPA may have another one for each statement; a suspended transaction is not
		// bound
		if (connection == null || TransactionSynchronizationManager.getResource(dataSource) == this.holder) {
			connection = DataSourceUtils.getConnection(dataSource);
			DataSourceUtils.releaseConnection(connection, dataSource);
			if (this.holder == null || connection.getAutoCommit()) {
				throw new IllegalStateException("The connection of the transaction manager '" + this.manager.beanName()
						+ "' is not bound to its transaction, or is in auto-commit mode. With JPA, set a "
						+ "HibernateJpaVendorAdapter, and not 'hibernate.connection.provider_disables_autocommit'");
			}
			this.connection = connection;
			this.session = connection.unwrap(Connection.class);
		}
		return connection;
	}

	/**
	 * Whether the first statement of the transaction begins a snapshot, in which nothing
	 * may wait.
	 */
	boolean hasSnapshot() {
		RowClaims rows = this.manager.claims();
		return rows != null && !rows.mayWait((this.isolation != null) ? this.isolation : -1);
	}

	/**
	 * How long the transaction may still take, according to its own timeout.
	 */
	long remainingNanos() {
		return (this.holder instanceof ConnectionHolder jdbc && jdbc.hasTimeout())
				? Math.max(1, jdbc.getTimeToLiveInMillis()) * 1_000_000 : Long.MAX_VALUE / 4;
	}

	List<LockCall> calls() {
		return this.calls;
	}

	List<Claim> claims() {
		return this.claims;
	}

	List<Claim> outerClaims() {
		return this.outerClaims;
	}

	/**
	 * The claim of an outer transaction on the same row. This one makes none: it would
	 * wait for itself.
	 */
	@Nullable Claim outerClaim(Grant grant) {
		OpenTransaction claimed = find(this.outer, (open) -> !open.hasEnded() && open.claim(grant) != null);
		return (claimed != null) ? claimed.claim(grant) : null;
	}

	private @Nullable Claim claim(Grant grant) {
		return this.claims.stream().filter((claim) -> claim.grant == grant).findFirst().orElse(null);
	}

	/**
	 * Notes that this transaction could not claim its locks. The exception reaches the
	 * caller once: before the body, or else after the rollback.
	 */
	void failed(RuntimeException failure) {
		this.failure = failure;
	}

	@Nullable RuntimeException takeFailure() {
		RuntimeException failure = this.failure;
		this.failure = null;
		return failure;
	}

	/**
	 * Throws what the claim of the transaction that began right under a call ended with.
	 */
	static void throwFailure(LockCall call) {
		OpenTransaction failed = find(innermost(),
				(open) -> open.failure != null && open.calls.indexOf(call) == open.calls.size() - 1);
		if (failed != null) {
			throw Objects.requireNonNull(failed.takeFailure());
		}
	}

	/**
	 * Notes that the COMMIT comes next.
	 */
	void checked() throws SQLException {
		this.state = State.CHECKED;
		if (this.holder != null) {
			connection();
		}
	}

	void whenOver(Runnable action) {
		this.whenOver.add(action);
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void afterCommit() {
		ended(true);
	}

	@Override
	public void afterCompletion(int status) {
		boolean checked = this.state == State.CHECKED;
		if (!checked && status != STATUS_COMMITTED && this.holder instanceof ConnectionHolder jdbc
				&& (this.connection != null || jdbc.isSynchronizedWithTransaction())) {
			rollBack((this.connection != null) ? this.connection : jdbc.getConnection());
		}
		ended(status == STATUS_COMMITTED);
		if (checked && status != STATUS_COMMITTED && (status == STATUS_UNKNOWN || isBroken())) {
			this.state = State.UNKNOWN;
		}
		if (!checked && status == STATUS_UNKNOWN && this.failure == null) {
			// Spring does not report the end if a callback failed before the commit
			over(false);
		}
	}

	/**
	 * After some exceptions of callbacks, Spring does not roll back, and its cleanup
	 * would commit what was not checked.
	 */
	static void rollBack(Connection connection) {
		try {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
		}
		catch (SQLException ex) {
			logger.debug("A broken session is not rolled back", ex);
		}
	}

	/**
	 * Spring calls some transactions rolled back although their COMMIT got no answer.
	 * Drivers close a session that does not answer.
	 */
	private boolean isBroken() {
		try {
			return this.session != null && this.session.isClosed();
		}
		catch (SQLException ex) {
			return true;
		}
	}

	/**
	 * From here on callbacks run, and a transaction lock is over.
	 */
	private void ended(boolean committed) {
		if (hasEnded()) {
			return;
		}
		this.state = State.ENDED;
		for (Claim claim : this.claims) {
			claim.ended(committed);
		}
		// Only the database of the locks has compared the versions of an optimistic call
		if (committed && (this.manager.claims() == null || !this.execution.isReadOnly())) {
			this.calls.stream()
				.filter((call) -> call.mode() != LockMode.OPTIMISTIC || this.manager.claims() != null)
				.forEach((call) -> call.note(Result.COMMITTED));
		}
	}

	private boolean hasEnded() {
		return this.state.compareTo(State.ENDED) >= 0;
	}

	/**
	 * Notes that all callbacks have been called.
	 * @param refused whether a failed COMMIT is known not to have taken place
	 */
	void over(boolean refused) {
		ended(false);
		if (this.state == State.UNKNOWN && !refused) {
			this.calls.forEach((call) -> call.note(Result.UNKNOWN));
		}
		if (find(INNERMOST.get(), (open) -> open == this) != null) {
			INNERMOST.set(this.outer);
		}
		for (Runnable action : this.whenOver) {
			try {
				action.run();
			}
			catch (RuntimeException ex) {
				logger.warn("Failed to release a lock after its transaction completed", ex);
			}
		}
	}

	private enum State {

		OPEN,

		/** The COMMIT comes next. */
		CHECKED,

		/** Callbacks run. */
		ENDED,

		/** It has ended, and its COMMIT got no answer. */
		UNKNOWN

	}

	/**
	 * A row that a transaction has locked.
	 */
	static final class Claim {

		private final OpenTransaction transaction;

		private final LockCall call;

		private final Grant grant;

		/** When the lease was renewed in the transaction; zero if it was not. */
		private long renewedAt;

		Claim(OpenTransaction transaction, LockCall call, Grant grant) {
			this.transaction = transaction;
			this.call = call;
			this.grant = grant;
		}

		LockCall call() {
			return this.call;
		}

		Grant grant() {
			return this.grant;
		}

		OpenTransaction transaction() {
			return this.transaction;
		}

		/**
		 * The claim of a lease of {@code jdbc} is its renewal.
		 */
		void begin(RowClaims rows) {
			if (rows.areLeases()) {
				this.grant.beginClaim();
				this.renewedAt = System.nanoTime();
			}
		}

		/**
		 * Whether to renew the lease once more before the COMMIT. In H2, the clock of a
		 * transaction stands still.
		 */
		boolean isLate(RowClaims rows) {
			return this.renewedAt != 0 && rows.rows().dialect() != SqlDialect.H2
					&& System.nanoTime() - this.renewedAt > this.grant.request().leaseTime().toNanos() / 3;
		}

		void notTaken(LockCall refused) {
			if (this.call == refused && this.grant.lease() instanceof TransactionLock lock) {
				lock.rolledBack();
			}
		}

		private void ended(boolean committed) {
			if (this.grant.lease() instanceof TransactionLock lock) {
				lock.over();
				this.call.over();
				return;
			}
			if (committed) {
				this.grant.installed();
			}
			if (committed && this.renewedAt != 0) {
				this.grant.renewed(this.renewedAt, this.grant.renewalTime());
			}
			this.grant.endClaim();
		}

	}

}
