package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockLease;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;

/**
 * The transactions of a thread that have begun and are not over, innermost first, whether
 * they are suspended or not.
 */
final class TransactionStack {

	private static final ThreadLocal<@Nullable RunningTransaction> INNERMOST = new ThreadLocal<>();

	private TransactionStack() {
	}

	/**
	 * Note that a transaction has begun on this thread. One that is still bound to it,
	 * hidden behind this one, may be used by whoever has taken a lock in between.
	 */
	static void begin(GuardedManager manager, TransactionExecution transaction) {
		RunningTransaction running = new RunningTransaction(manager, transaction, innermost());
		INNERMOST.set(running);
		TransactionSynchronizationManager.registerSynchronization(running);
		HeldLock innermost = LockStack.current();
		if (innermost != null) {
			running.belongsToAllHeld();
			RunningTransaction hidden = hidden();
			if (hidden != null) {
				hidden.belongsToAllHeld();
			}
			innermost.commits().begun(transaction);
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
		boolean current = innermost != null && !innermost.isSuspended()
				&& (TransactionSynchronizationManager.isActualTransactionActive()
						|| (innermost.hasEnded() && innermost.isBound()));
		return current ? innermost : null;
	}

	/**
	 * A transaction of a SQL database that is bound to this thread although its callbacks
	 * are suspended.
	 */
	static @Nullable RunningTransaction hidden() {
		return find(TransactionStack::isHidden);
	}

	private static boolean isHidden(RunningTransaction running) {
		return (running.isSuspended() || running != INNERMOST.get()) && running.isSql() && running.isBound();
	}

	/**
	 * A transaction of a SQL database that the current code works in, and still would if
	 * a manager suspended its own one.
	 * @param manager supplies the manager, or {@code null} for that of the current
	 * transaction
	 */
	static @Nullable RunningTransaction staysDespite(Supplier<? extends @Nullable TransactionManager> manager) {
		return find((running) -> running.isSql() && (isHidden(running)
				|| (!running.isSuspended() && !running.manager().resources().areSuspendedBy(manager.get()))));
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
		return own != null && ManagerResources.of(own).isAnyBoundBeside();
	}

	/**
	 * A transaction whose locks are checked for the COMMIT that comes next, and on whose
	 * connection one of a manager would begin.
	 */
	static @Nullable RunningTransaction checkedOn(GuardedManager manager) {
		DataSource dataSource = (INNERMOST.get() != null) ? manager.knownDataSource() : null;
		return (dataSource != null) ? find((running) -> running.isChecked(dataSource)) : null;
	}

	static @Nullable RunningTransaction of(TransactionExecution transaction) {
		return find((running) -> running.isOf(transaction));
	}

	/**
	 * What a transaction of this thread, which may be suspended, has claimed and not
	 * committed yet.
	 * @return the claim of a lease, or {@code null} if there is none
	 */
	static @Nullable Claim claimOf(LockLease lease) {
		for (RunningTransaction running = innermost(); running != null; running = running.outer()) {
			Claim claim = (running.connection() != null) ? running.connection().claimOf(lease) : null;
			if (claim != null) {
				return claim;
			}
		}
		return null;
	}

	/**
	 * Bring the connection back that was taken away for a lock, unless another one has
	 * taken its place since.
	 */
	static void resumeAfter(HeldLock lock) {
		RunningTransaction running = innermost();
		if (running != null && running.isSuspendedFor(lock)) {
			running.resumeAfter(lock);
		}
	}

	/**
	 * All locks of this thread, outer ones first.
	 */
	static List<HeldLock> locks() {
		List<HeldLock> held = LockStack.all();
		if (held.size() > 1) {
			held = new ArrayList<>(held);
			Collections.reverse(held);
		}
		return held;
	}

	private static @Nullable RunningTransaction find(Predicate<RunningTransaction> condition) {
		for (RunningTransaction running = innermost(); running != null; running = running.outer()) {
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
		while (innermost != null && innermost.isCompleted()) {
			INNERMOST.set(innermost.outer());
			innermost.over();
			innermost = INNERMOST.get();
		}
		return innermost;
	}

	/**
	 * Forget a transaction, and those inside of it that were left behind. The entry of a
	 * thread stays, without a value, as removing it and making it again with each call
	 * costs more.
	 */
	static void forget(RunningTransaction over) {
		for (RunningTransaction running = INNERMOST.get(); running != null; running = running.outer()) {
			if (running == over) {
				INNERMOST.set(over.outer());
			}
		}
	}

}
