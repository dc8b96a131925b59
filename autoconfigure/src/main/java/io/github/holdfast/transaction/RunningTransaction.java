package io.github.holdfast.transaction;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.ClaimRefusedException;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.fence.FenceClaims;
import io.github.holdfast.jpa.JoinedContext;
import io.github.holdfast.store.TransactionLease;

/**
 * A transaction of this thread, from its begin until Spring has called all of its
 * callbacks, with the locks that it belongs to: those that were held when it began, and
 * those that were taken inside of it, without a transaction of their own. <b>All of them
 * have to be held, each by the same holder, when something of it is committed</b>: by its
 * commit, by that of another user of its connection, or by the clean-up of the
 * connection, which commits what callbacks have written after it.
 *
 * <p>
 * Suspended together with the transaction. Some managers suspend the callbacks of a
 * transaction of another manager, but not its connection: it is hidden then, and a body
 * that uses the same {@code DataSource} still works in it.
 */
final class RunningTransaction implements TransactionSynchronization, PriorityOrdered, BoundConnection.User {

	private static final Logger logger = LoggerFactory.getLogger(RunningTransaction.class);

	private final GuardedManager manager;

	private final TransactionExecution transaction;

	private final @Nullable RunningTransaction outer;

	/** {@code null} if it cannot be told which one it is. */
	private final @Nullable BoundConnection connection;

	private final LateWork lateWork;

	/** Outer ones first. */
	private Set<HeldLock> locks = Set.of();

	private final List<Runnable> whenOver = new ArrayList<>(0);

	private Map<HeldLock, Runnable> resumptions = Map.of();

	private List<ReplacedVersion> versions = List.of();

	/** By their keys, as they were when the callbacks were suspended or called last. */
	private Map<Object, Object> resources = Map.of();

	private Phase phase = Phase.RUNNING;

	/** Whether the listeners have been told of the attempt to end it. */
	private boolean announced;

	/** Whether it was marked rollback-only before its callbacks were called. */
	private boolean doomed;

	/** The locks that were held when it was suspended, or {@code null} if it is not. */
	private @Nullable List<HeldLock> suspended;

	/** One that was taken while it was suspended, and was still held afterwards. */
	private @Nullable HeldLock lateLock;

	private boolean joined;

	private boolean claimRefused;

	private @Nullable CommitRelease release;

	RunningTransaction(GuardedManager manager, TransactionExecution transaction, @Nullable RunningTransaction outer) {
		this.manager = manager;
		this.transaction = transaction;
		this.outer = outer;
		DataSource dataSource = manager.knownDataSource();
		this.connection = (dataSource != null) ? connection(BoundConnection.of(dataSource)) : null;
		this.lateWork = new LateWork(manager, this);
	}

	/**
	 * That of an outer transaction, if the manager has found it bound.
	 */
	private BoundConnection connection(BoundConnection found) {
		BoundConnection connection = found;
		for (RunningTransaction each = this.outer; each != null && connection == found; each = each.outer) {
			if (each.connection != null && !each.hasEnded() && each.connection.isSame(found)) {
				connection = each.connection;
			}
		}
		connection.enter(this);
		return connection;
	}

	@Nullable RunningTransaction outer() {
		return this.outer;
	}

	GuardedManager manager() {
		return this.manager;
	}

	@Nullable BoundConnection connection() {
		return this.connection;
	}

	boolean isOf(TransactionExecution transaction) {
		return this.transaction == transaction;
	}

	boolean isCompleted() {
		return this.transaction.isCompleted();
	}

	boolean isSuspended() {
		return this.suspended != null;
	}

	/**
	 * Whether what it has taken from the pool, or found there, is bound to this thread.
	 */
	boolean isBound() {
		return this.resources.entrySet()
			.stream()
			.anyMatch((entry) -> TransactionSynchronizationManager.getResource(entry.getKey()) == entry.getValue());
	}

	/**
	 * Whether it may change what locks protect in a SQL database.
	 */
	boolean isSql() {
		return this.manager.isSql() && !this.manager.isLeftOut();
	}

	@Override
	public boolean isReadOnly() {
		return this.transaction.isReadOnly();
	}

	/**
	 * Whether its COMMIT changes nothing, by what is declared of all that was done on its
	 * connection.
	 */
	boolean commitsReadsOnly() {
		return (this.connection != null) ? this.connection.isReadOnly() : isReadOnly();
	}

	/**
	 * Whether it works on the connection of an outer one.
	 */
	boolean isBorrowing() {
		return this.connection != null && this.connection.isBorrowedBy(this);
	}

	@Nullable CleanedUpConnection guardCleanUp() {
		return (this.connection != null && !this.locks.isEmpty())
				? this.connection.guardCleanUp(this.transaction, this::over) : null;
	}

	boolean isCleanedUpByCommit() {
		return BoundConnection.isCleanedUpByCommit(this.transaction);
	}

	@Nullable String name() {
		return this.transaction.getTransactionName();
	}

	/**
	 * Whether the commit is over although Spring still calls the transaction active.
	 */
	boolean hasEnded() {
		return this.phase.compareTo(Phase.ENDED) >= 0;
	}

	boolean isAnnounced() {
		return this.announced;
	}

	void belongsToAllHeld() {
		TransactionStack.locks().forEach(this::belongsTo);
	}

	/**
	 * Let this transaction depend on a lock, but not on those around it.
	 */
	void belongsTo(HeldLock lock) {
		this.locks = with(lock, this.locks);
	}

	/**
	 * Mostly there is one lock, and nothing to add.
	 */
	private static Set<HeldLock> with(HeldLock lock, Set<HeldLock> locks) {
		List<? extends HeldLock> holders = lock.holders();
		if (locks.containsAll(holders)) {
			return locks;
		}
		if (locks.isEmpty() && holders.size() == 1) {
			return Set.copyOf(holders);
		}
		Set<HeldLock> all = new LinkedHashSet<>(locks);
		all.addAll(holders);
		return all;
	}

	boolean dependsOn(HeldLock lock) {
		return this.locks.containsAll(lock.holders());
	}

	/**
	 * Those that it belongs to, outer ones first.
	 */
	@Override
	public Set<HeldLock> ownLocks() {
		return this.locks;
	}

	/**
	 * The locks that have to be held when this transaction commits, outer ones first:
	 * those of all that its connection commits, and those that are held but were neither
	 * at its begin nor taken for it.
	 */
	List<HeldLock> locks() {
		Set<HeldLock> locks = this.locks;
		if (this.connection != null) {
			for (BoundConnection.User user : this.connection.users()) {
				for (HeldLock lock : user.ownLocks()) {
					locks = with(lock, locks);
				}
			}
		}
		for (HeldLock lock : TransactionStack.locks()) {
			locks = with(lock, locks);
		}
		return List.copyOf(locks);
	}

	/**
	 * Write the leases of a lock whose body consists of this transaction into the fence
	 * table, if nothing has been done in it. Those that are there already, or were
	 * written by an outer transaction, are checked at the commit.
	 * @throws ClaimRefusedException if that is not possible; this transaction is marked
	 * rollback-only then, as not each exception lets Spring roll it back
	 */
	void claim(HeldLock lock) {
		try {
			claimOrRefuse(lock);
		}
		catch (ClaimRefusedException ex) {
			this.claimRefused = true;
			if (this.transaction instanceof TransactionStatus status) {
				status.setRollbackOnly();
			}
			throw ex;
		}
	}

	private void claimOrRefuse(HeldLock lock) {
		GuardedLocks guarded = this.manager.locksOf(lock);
		FenceClaims claims = guarded.claims();
		if (claims == null || !lock.commits().isBody(this.transaction)) {
			throw ClaimRefusedException.always(lock, "the transaction is not all that is under them");
		}
		List<LockLease> pending = new ArrayList<>(lock.leases());
		pending.removeIf((lease) -> !claims.isPending(lease) || TransactionStack.claimOf(lease) != null);
		if (pending.isEmpty()) {
			return;
		}
		if (lock.holders().size() > 1) {
			throw ClaimRefusedException.thisTime(lock, "some are those of an outer call");
		}
		if (guarded.guarding() != CommitGuardLevel.FENCE || this.transaction.isReadOnly()
				|| this.manager.fetchesForCaller()) {
			throw ClaimRefusedException.always(lock, "the transaction cannot write the fence table, or connects late");
		}
		Connection connection = (this.connection != null) ? this.connection.untouched() : null;
		if (this.connection == null || connection == null) {
			throw ClaimRefusedException.always(lock, "something may have been read in the transaction before");
		}
		if (claims.claim(connection, pending, !this.connection.hasTimeout())) {
			this.connection.claimed(new Claim(lock, pending, claims, connection));
			return;
		}
		throw claims.isPossible(connection)
				? ClaimRefusedException.thisTime(lock, "a row is locked, missing or that of a later holder")
				: ClaimRefusedException.always(lock, "the reads of the transaction may be older than its claim");
	}

	/**
	 * Whether its body has not begun, and its locks have no rows yet.
	 */
	boolean isClaimRefused() {
		return this.claimRefused;
	}

	/**
	 * Whether a claim was made on the connection of this transaction.
	 */
	boolean hasClaimed(Claim claim) {
		return this.connection != null && this.connection.hasClaimed(claim);
	}

	/**
	 * Whether a claim of a lease was undone on the connection of this transaction, which
	 * went on.
	 */
	boolean hasLostClaimOf(LockLease lease) {
		return this.connection != null && this.connection.hasLostClaimOf(lease);
	}

	/**
	 * Note that the commit comes next, and that a lock allows it.
	 */
	void noteGuarded(HeldLock lock) {
		lock.commits().guarded(this.transaction);
	}

	/**
	 * Run something when Spring has called all callbacks of this transaction, and nothing
	 * that they have written is left to commit.
	 */
	void whenOver(Runnable action) {
		if (this.phase == Phase.OVER) {
			action.run();
		}
		else {
			this.whenOver.add(action);
		}
	}

	/**
	 * Whether something is to be run when this transaction is over.
	 */
	boolean isAwaited() {
		return !this.whenOver.isEmpty();
	}

	/**
	 * Take the connection of this transaction away from the thread while a lock is held
	 * whose body works outside of it: one of its own propagation, or one of a callback
	 * after the end.
	 */
	void suspendFor(HeldLock lock) {
		List<HeldLock> suspended = this.suspended;
		this.resources = this.manager.resources().bound();
		Runnable resumption = this.manager.suspendTransaction();
		this.suspended = LockStack.all();
		Map<HeldLock, Runnable> resumptions = new LinkedHashMap<>(this.resumptions);
		resumptions.put(lock, () -> {
			resumption.run();
			this.suspended = suspended;
		});
		this.resumptions = resumptions;
	}

	boolean isSuspendedFor(HeldLock lock) {
		return this.resumptions.containsKey(lock);
	}

	/**
	 * Bring the connection back that was taken away for a lock.
	 */
	void resumeAfter(HeldLock lock) {
		Runnable resumption = this.resumptions.remove(lock);
		if (resumption != null) {
			resumption.run();
		}
	}

	/**
	 * Whether the commit that Spring is about to ask for will roll back, and the manager
	 * say so: that of JPA and JTA is asked for although the transaction is marked
	 * rollback-only.
	 */
	boolean isRolledBackByItsCommit() {
		return this.doomed && !this.manager.reportsRollbackOfItsConnection();
	}

	/**
	 * First of all, so that the other callbacks see that the transaction has ended.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void suspend() {
		if (this.suspended == null) {
			this.suspended = LockStack.all();
			this.resources = this.manager.resources().bound();
		}
	}

	/**
	 * A lock that was taken meanwhile, and is still held, is one that was taken inside of
	 * this transaction, by code that could not see it.
	 */
	@Override
	public void resume() {
		List<HeldLock> before = this.suspended;
		this.suspended = null;
		if (before != null && !hasEnded()) {
			for (HeldLock lock : LockStack.all()) {
				if (!before.contains(lock)) {
					this.lateLock = lock;
				}
			}
		}
	}

	/**
	 * A lock that was taken while this transaction was suspended, and outlives that.
	 * @return the lock, or {@code null} if there is none
	 */
	@Nullable HeldLock lateLock() {
		return this.lateLock;
	}

	/**
	 * Note that the end has begun, and that the listeners will be told how it went.
	 */
	void announced() {
		this.announced = true;
	}

	/**
	 * Note that all locks allow the commit.
	 * @param versions those that it replaces
	 * @param release what it releases, or {@code null}
	 */
	void checked(List<ReplacedVersion> versions, @Nullable CommitRelease release) {
		this.lateWork.lookAtCallbacks();
		if (this.connection != null && this.lateWork.hasCallbacks()) {
			this.connection.keepClaim();
		}
		this.phase = Phase.CHECKED;
		this.versions = versions;
		this.release = release;
	}

	/**
	 * Called before all other callbacks, of which one might mark the transaction too late
	 * for Spring.
	 */
	@Override
	public void beforeCommit(boolean readOnly) {
		this.doomed = this.transaction instanceof DefaultTransactionStatus status && status.isGlobalRollbackOnly();
		this.lateWork.lookAtCallbacks();
	}

	/**
	 * Called before a context that has joined is taken away from the thread.
	 */
	@Override
	public void beforeCompletion() {
		this.joined = JoinedContext.isAny();
		this.lateWork.lookAtCallbacks();
	}

	/**
	 * Whether a context will be committed on a connection of its own after this
	 * transaction.
	 */
	boolean isJoined() {
		return this.joined || JoinedContext.isAny();
	}

	/**
	 * Whether its locks are checked, and its COMMIT, which comes next, is that of what
	 * begins now.
	 * @param dataSource that of the manager whose transaction begins
	 */
	boolean isChecked(DataSource dataSource) {
		return this.phase == Phase.CHECKED && this.connection != null
				&& this.connection.isSame(BoundConnection.of(dataSource)) && this.connection.mayHavePendingWork();
	}

	/**
	 * Whether callbacks may do more than the transaction, as far as they are there yet.
	 */
	boolean hasCallbacksNow() {
		this.lateWork.lookAtCallbacks();
		return this.lateWork.hasCallbacks();
	}

	/**
	 * Whether callbacks may have done more than the transaction.
	 */
	boolean hadCallbacks() {
		return this.lateWork.hasCallbacks();
	}

	/**
	 * Hibernate may have called the application since the check.
	 */
	@Override
	public void afterCommit() {
		this.lateWork.lookAtCallbacks();
		this.phase = Phase.ENDED;
		if (this.connection != null) {
			this.connection.committed();
		}
		if (this.release != null) {
			this.release.committed();
		}
	}

	/**
	 * A commit whose answer is missing may still take place on the server. One that was
	 * not even checked, as an exception of another callback came first, would be made up
	 * for by the connection's clean-up.
	 */
	@Override
	public void afterCompletion(int status) {
		boolean checked = this.phase != Phase.RUNNING;
		this.phase = Phase.ENDED;
		boolean rolledBack = !checked
				|| (status == STATUS_ROLLED_BACK && this.connection != null && this.connection.isInItsSession());
		if (!rolledBack) {
			this.versions.forEach(ReplacedVersion::committed);
		}
		if (!this.locks.isEmpty() && status != STATUS_COMMITTED) {
			if (checked && !rolledBack) {
				outcomeUnknown(true);
			}
			else if (!checked && this.connection != null && !isBorrowing()) {
				rollBackUnchecked(this.connection, status);
			}
		}
		if (this.connection != null && status != STATUS_COMMITTED) {
			this.connection
				.rolledBack(status == STATUS_ROLLED_BACK && this.lateWork.hasCallbacks() && isCleanedUpByCommit());
		}
		this.resources = this.manager.resources().bound();
	}

	/**
	 * Roll back what Spring leaves as it is after an exception before the commit was
	 * announced, also for JPA: Hibernate keeps the connection, and its rows locked.
	 */
	private void rollBackUnchecked(BoundConnection connection, int status) {
		if ((status == STATUS_UNKNOWN && !this.announced) || this.manager.reportsRollbackOfItsConnection()) {
			connection.rollBack();
		}
	}

	/**
	 * Note that it is not known whether the commit took place, or is known after all. An
	 * optimistic lock has nothing that could be kept.
	 */
	void outcomeUnknown(boolean unknown) {
		for (HeldLock lock : locks()) {
			if (lock.mode() != LockRequest.Mode.OPTIMISTIC
					&& !lock.leases().stream().allMatch(TransactionLease.class::isInstance)) {
				lock.commits().outcomeUnknown(this.transaction, unknown);
			}
		}
	}

	/**
	 * See to it that the clean-up of the connection commits nothing that is not checked.
	 * @param known whether the transaction has ended as it should
	 */
	void settle(boolean known) {
		resumeLeftBehind();
		this.lateWork.settle(known);
	}

	/**
	 * Forget this transaction, and those inside of it that were left behind.
	 */
	void over() {
		if (this.phase == Phase.OVER) {
			return;
		}
		this.phase = Phase.OVER;
		TransactionStack.forget(this);
		if (this.connection != null) {
			this.connection.leave(this);
		}
		resumeLeftBehind();
		for (Runnable action : this.whenOver) {
			try {
				action.run();
			}
			catch (RuntimeException ex) {
				logger.warn("A lock that was kept to the end of a transaction", ex);
			}
		}
	}

	/**
	 * What another thread should have resumed, which has closed a scope of this one, or
	 * the end of a scope that is still open.
	 * @return whether there was any
	 */
	boolean resumeLeftBehind() {
		Map<HeldLock, Runnable> resumptions = this.resumptions;
		this.resumptions = Map.of();
		for (Runnable resumption : resumptions.values()) {
			try {
				resumption.run();
			}
			catch (RuntimeException ex) {
				logger.warn("A callback of a scope that was not closed where it should", ex);
			}
		}
		return !resumptions.isEmpty();
	}

	/**
	 * How far a transaction has come.
	 */
	private enum Phase {

		/** Its body runs, or its callbacks before the commit. */
		RUNNING,

		/** All of its locks allow the commit, which comes next. */
		CHECKED,

		/** The commit or rollback has been asked for, and its callbacks are called. */
		ENDED,

		/** All of its callbacks have been called. */
		OVER

	}

}
