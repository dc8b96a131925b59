package io.github.holdfast.transaction;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.ClaimRefusedException;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.fence.FenceClaims;

/**
 * A transaction of this thread, from its begin until Spring has called all of its
 * callbacks, with the locks that it belongs to: those that were held when it began, and
 * those that were taken inside of it, without a transaction of their own. <b>All of them
 * have to be held, each by the same holder, when something of it is committed</b>: by its
 * commit, or by the clean-up of its connection, which commits what callbacks have written
 * after it.
 *
 * <p>
 * Suspended together with the transaction. Some managers suspend the callbacks of a
 * transaction of another manager, but not its connection: it is hidden then, and a body
 * that uses the same {@code DataSource} still works in it.
 */
final class RunningTransaction implements TransactionSynchronization, PriorityOrdered {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuard.class);

	private static final ThreadLocal<@Nullable RunningTransaction> INNERMOST = new ThreadLocal<>();

	private final CommitGuard guard;

	private final GuardedManager manager;

	private final TransactionExecution transaction;

	private final @Nullable RunningTransaction outer;

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

	private boolean suspended;

	private boolean callbacksOfOthers;

	private boolean joined;

	private @Nullable LastCallback lastCallback;

	private @Nullable Claim claim;

	private @Nullable CommitRelease release;

	/** Why what callbacks have written was rolled back, until the caller is told. */
	private @Nullable LockOverlapException overlap;

	private RunningTransaction(CommitGuard guard, GuardedManager manager, TransactionExecution transaction,
			@Nullable RunningTransaction outer) {
		this.guard = guard;
		this.manager = manager;
		this.transaction = transaction;
		this.outer = outer;
	}

	/**
	 * Note that a transaction has begun on this thread. One that is still bound to it,
	 * hidden behind this one, may be used by whoever has taken a lock in between.
	 */
	static void begin(CommitGuard guard, GuardedManager manager, TransactionExecution transaction) {
		RunningTransaction running = new RunningTransaction(guard, manager, transaction, innermost());
		INNERMOST.set(running);
		TransactionSynchronizationManager.registerSynchronization(running);
		HeldLock innermost = LockStack.current();
		if (innermost != null) {
			if (running.isSql() && !manager.isLeftOut()) {
				manager.endEarlierTransaction(transaction);
			}
			running.belongsToAllHeld();
			RunningTransaction hidden = find(RunningTransaction::isHidden);
			if (hidden != null) {
				hidden.belongsToAllHeld();
			}
			innermost.begun(transaction);
		}
	}

	/**
	 * The transaction that the current code works in, also while its last callbacks run:
	 * one of these may have had a transaction of its own, after which Spring calls none
	 * active any more, although the connection of this one is still bound.
	 * @return the transaction, or {@code null} if none is known or it is suspended
	 */
	static @Nullable RunningTransaction current() {
		RunningTransaction innermost = innermost();
		boolean current = innermost != null && !innermost.suspended
				&& (TransactionSynchronizationManager.isActualTransactionActive()
						|| (innermost.hasEnded() && innermost.isBound()));
		return current ? innermost : null;
	}

	/**
	 * A transaction of a SQL database that is bound to this thread although its callbacks
	 * are suspended.
	 */
	static @Nullable RunningTransaction hidden() {
		return find(RunningTransaction::isHidden);
	}

	/**
	 * A transaction of a SQL database that the current code works in, and still would if
	 * a manager suspended its own one.
	 * @param manager supplies the manager, or {@code null} for that of the current
	 * transaction
	 */
	static @Nullable RunningTransaction staysDespite(Supplier<? extends @Nullable TransactionManager> manager) {
		return find((running) -> running.isSql() && !running.manager.isLeftOut()
				&& (running.isHidden() || (!running.suspended && !running.manager.isSuspendedBy(manager.get()))));
	}

	/**
	 * Whether the thread is in a transaction that has begun unseen, as its manager had no
	 * guard then, and stays in it although a manager suspends its own one.
	 * @param manager supplies the manager, or {@code null} for that of the transaction
	 */
	static boolean staysUnseenDespite(Supplier<? extends @Nullable TransactionManager> manager) {
		if (!TransactionSynchronizationManager.isActualTransactionActive() || innermost() != null) {
			return false;
		}
		TransactionManager own = manager.get();
		return own != null && GuardedManager.isAnyBoundBeside(own);
	}

	static @Nullable RunningTransaction of(TransactionExecution transaction) {
		return find((running) -> running.transaction == transaction);
	}

	private static @Nullable RunningTransaction find(Predicate<RunningTransaction> condition) {
		for (RunningTransaction running = innermost(); running != null; running = running.outer) {
			if (condition.test(running)) {
				return running;
			}
		}
		return null;
	}

	/**
	 * The end of a transaction is missed if another listener has failed before.
	 */
	private static @Nullable RunningTransaction innermost() {
		RunningTransaction innermost = INNERMOST.get();
		while (innermost != null && innermost.transaction.isCompleted()) {
			setInnermost(innermost.outer);
			innermost.over();
			innermost = INNERMOST.get();
		}
		return innermost;
	}

	private boolean isHidden() {
		return (this.suspended || this != INNERMOST.get()) && isSql() && !this.manager.isLeftOut() && isBound();
	}

	private boolean isBound() {
		return this.resources.entrySet()
			.stream()
			.anyMatch((entry) -> TransactionSynchronizationManager.getResource(entry.getKey()) == entry.getValue());
	}

	private void rememberResources() {
		Map<Object, Object> resources = Map.of();
		for (Object key : this.manager.resourceKeys()) {
			Object resource = TransactionSynchronizationManager.getResource(key);
			if (resource != null) {
				resources = resources.isEmpty() ? new HashMap<>(2) : resources;
				resources.put(key, resource);
			}
		}
		this.resources = resources;
	}

	boolean isSql() {
		return this.manager.isSql();
	}

	@Nullable String name() {
		return this.transaction.getTransactionName();
	}

	String managerName() {
		return this.manager.beanName();
	}

	/**
	 * Whether the commit is over although Spring still calls the transaction active.
	 */
	boolean hasEnded() {
		return this.phase.compareTo(Phase.ENDED) >= 0;
	}

	private void belongsToAllHeld() {
		allHeld().forEach(this::belongsTo);
	}

	/**
	 * All locks of this thread, outer ones first.
	 */
	private static List<HeldLock> allHeld() {
		List<HeldLock> held = LockStack.all();
		if (held.size() > 1) {
			held = new ArrayList<>(held);
			Collections.reverse(held);
		}
		return held;
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
	 * The locks that have to be held when this transaction commits, outer ones first.
	 * Those that are held but were neither at its begin nor taken for it count, too.
	 */
	List<HeldLock> locks() {
		Set<HeldLock> locks = this.locks;
		for (HeldLock lock : allHeld()) {
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
			this.claim = claimOrRefuse(lock);
		}
		catch (ClaimRefusedException ex) {
			if (this.transaction instanceof TransactionStatus status) {
				status.setRollbackOnly();
			}
			throw ex;
		}
	}

	private @Nullable Claim claimOrRefuse(HeldLock lock) {
		GuardedLocks guarded = this.manager.locksOf(lock);
		FenceClaims claims = guarded.claims();
		if (claims == null || !lock.isBody(this.transaction)) {
			throw ClaimRefusedException.always(lock, "the transaction is not all that is under them");
		}
		List<LockLease> pending = lock.leases()
			.stream()
			.filter((lease) -> claims.isPending(lease) && claimOf(lease) == null)
			.toList();
		if (pending.isEmpty()) {
			return null;
		}
		if (lock.holders().size() > 1) {
			throw ClaimRefusedException.thisTime(lock, "some are those of an outer call");
		}
		if (guarded.guarding() != CommitGuardLevel.FENCE || this.transaction.isReadOnly()) {
			throw ClaimRefusedException.always(lock, "the transaction cannot write the fence table");
		}
		Connection connection = this.manager.untouchedConnection();
		if (connection == null) {
			throw ClaimRefusedException.always(lock, "something may have been read in the transaction before");
		}
		if (claims.claim(connection, pending)) {
			return new Claim(lock, pending, claims);
		}
		throw claims.isPossible(connection)
				? ClaimRefusedException.thisTime(lock, "a row is locked, missing or that of a later holder")
				: ClaimRefusedException.always(lock, "the reads of the transaction may be older than its claim");
	}

	/**
	 * What a transaction of this thread, which may be suspended, has claimed and not
	 * committed yet.
	 * @return the claim of a lease, or {@code null} if there is none
	 */
	static @Nullable Claim claimOf(LockLease lease) {
		RunningTransaction claimant = find(
				(running) -> running.claim != null && !running.hasEnded() && running.claim.covers(lease));
		return (claimant != null) ? claimant.claim : null;
	}

	/**
	 * Whether this transaction itself has claimed a lease.
	 */
	boolean hasClaimed(Claim claim) {
		return this.claim == claim;
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
	 * Take the connection of this transaction, which has ended, away from the thread
	 * while a lock is held that was taken by one of its callbacks.
	 */
	void suspendFor(HeldLock lock) {
		boolean suspended = this.suspended;
		rememberResources();
		Runnable resumption = this.manager.suspendTransaction();
		this.suspended = true;
		Map<HeldLock, Runnable> resumptions = new LinkedHashMap<>(this.resumptions);
		resumptions.put(lock, () -> {
			resumption.run();
			this.suspended = suspended;
		});
		this.resumptions = resumptions;
	}

	/**
	 * Bring the connection back that was taken away for a lock.
	 */
	static void resumeAfter(HeldLock lock) {
		RunningTransaction running = find((each) -> each.resumptions.containsKey(lock));
		Runnable resumption = (running != null) ? running.resumptions.remove(lock) : null;
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
		this.suspended = true;
		rememberResources();
	}

	@Override
	public void resume() {
		this.suspended = false;
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
		lookAtCallbacks();
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
		lookAtCallbacks();
	}

	/**
	 * Called before a context that has joined is taken away from the thread.
	 */
	@Override
	public void beforeCompletion() {
		this.joined = BoundResourcesRule.isAnyJoined();
		lookAtCallbacks();
	}

	/**
	 * Whether a context will be committed on a connection of its own after this
	 * transaction.
	 */
	boolean isJoined() {
		return this.joined || BoundResourcesRule.isAnyJoined();
	}

	/**
	 * More of them may have been registered since the last look, by another callback or
	 * by the flush of a session. Not all are called if one of them fails.
	 */
	private void lookAtCallbacks() {
		List<TransactionSynchronization> callbacks = TransactionSynchronizationManager.getSynchronizations();
		this.callbacksOfOthers = mayWork(callbacks);
		boolean needed = this.callbacksOfOthers || !this.whenOver.isEmpty();
		if (needed && callbacks.get(callbacks.size() - 1) != this.lastCallback) {
			this.lastCallback = new LastCallback();
			TransactionSynchronizationManager.registerSynchronization(this.lastCallback);
		}
	}

	/**
	 * Ours do not.
	 */
	private static boolean mayWork(List<TransactionSynchronization> callbacks) {
		for (TransactionSynchronization callback : callbacks) {
			boolean own = callback instanceof RunningTransaction || callback instanceof LastCallback;
			if (!own && PendingWork.mayComeFrom(callback)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether callbacks may do more than the transaction, as far as they are there yet.
	 */
	boolean hasCallbacksNow() {
		lookAtCallbacks();
		return this.callbacksOfOthers;
	}

	/**
	 * Whether callbacks may have done more than the transaction.
	 */
	boolean hadCallbacks() {
		return this.callbacksOfOthers;
	}

	@Override
	public void afterCommit() {
		this.phase = Phase.ENDED;
		if (this.claim != null) {
			this.claim.committed();
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
				|| (status == STATUS_ROLLED_BACK && this.manager.reportsRollbackOfItsConnection());
		if (!rolledBack) {
			this.versions.forEach(ReplacedVersion::committed);
		}
		if (!this.locks.isEmpty() && status != STATUS_COMMITTED) {
			if (!checked) {
				this.manager.rollBackBoundConnection();
				if (status == STATUS_UNKNOWN && !this.announced) {
					this.manager.rollBackWhatComesLater();
				}
			}
			else if (!rolledBack) {
				outcomeUnknown(true);
			}
		}
		rememberResources();
	}

	/**
	 * Note that it is not known whether the commit took place, or is known after all.
	 */
	void outcomeUnknown(boolean unknown) {
		locks().forEach((lock) -> lock.outcomeUnknown(this.transaction, unknown));
	}

	/**
	 * See to it that the clean-up of the connection has nothing left to commit: what
	 * callbacks have written since the end of the transaction is committed here, if all
	 * locks of the transaction are still held, and otherwise rolled back. An optimistic
	 * lock is over with its commit and says nothing about it.
	 * @param known whether the transaction has ended as it should
	 * @throws LockOverlapException if it was rolled back as a lock is not held, now or by
	 * the last callback, or as that could not be found out: never as a failure that tells
	 * of a transaction which was rolled back
	 */
	void settle(boolean known) {
		LockOverlapException overlap = this.overlap;
		if (overlap != null) {
			this.overlap = null;
			this.manager.rollBackPendingWork();
			throw overlap;
		}
		resumeLeftBehind();
		if (this.locks.isEmpty() || !this.manager.mayHavePendingWork(this.guard, this.callbacksOfOthers)) {
			return;
		}
		List<HeldLock> locks = this.locks.stream()
			.filter((lock) -> lock.mode() != LockRequest.Mode.OPTIMISTIC)
			.toList();
		if (locks.isEmpty()) {
			return;
		}
		if (!known || !this.manager.cleansUpByCommit(this.transaction)) {
			this.manager.rollBackPendingWork();
			return;
		}
		try {
			new CommitCheck(this.manager, this.transaction, locks, null).run();
			this.manager.commitPendingWork(locks.get(0).keys().get(0));
		}
		catch (LockLostException ex) {
			this.manager.rollBackPendingWork();
			throw new LockOverlapException(ex.key(), "after the commit: what was written after it, in callbacks of the "
					+ "transaction, has been rolled back", ex);
		}
		catch (RuntimeException ex) {
			this.manager.rollBackPendingWork();
			throw new LockOverlapException(locks.get(0).keys().get(0),
					"or not found after the commit: what was written after it, in callbacks of the transaction, "
							+ "could not be checked and committed",
					ex);
		}
		catch (Error ex) {
			this.manager.rollBackPendingWork();
			throw ex;
		}
	}

	/**
	 * Forget this transaction, and those inside of it that were left behind.
	 */
	void over() {
		if (this.phase == Phase.OVER) {
			return;
		}
		this.phase = Phase.OVER;
		for (RunningTransaction running = INNERMOST.get(); running != null; running = running.outer) {
			if (running == this) {
				setInnermost(this.outer);
			}
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
	 * What another thread should have resumed, which has closed a scope of this one.
	 */
	private void resumeLeftBehind() {
		Map<HeldLock, Runnable> resumptions = this.resumptions;
		if (!resumptions.isEmpty()) {
			this.resumptions = Map.of();
			resumptions.values().forEach(Runnable::run);
		}
	}

	/**
	 * The entry of a thread stays, without a value, as removing it and making it again
	 * with each call costs more.
	 */
	private static void setInnermost(@Nullable RunningTransaction innermost) {
		INNERMOST.set(innermost);
	}

	/**
	 * The end of a transaction whose listeners are not told: of one that fails before
	 * they were told of the attempt. One that has other listeners is settled here, as one
	 * of them may fail before the guard is told.
	 */
	private final class LastCallback implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void afterCompletion(int status) {
			RunningTransaction running = RunningTransaction.this;
			if (running.lastCallback != this) {
				return;
			}
			if (status == STATUS_UNKNOWN && !running.announced) {
				over();
			}
			else if (!running.manager.isOnlyListener(running.guard)) {
				try {
					settle(status != STATUS_UNKNOWN);
				}
				catch (LockOverlapException ex) {
					running.overlap = ex;
				}
			}
		}

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
