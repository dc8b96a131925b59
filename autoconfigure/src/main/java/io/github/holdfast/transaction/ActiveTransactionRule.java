package io.github.holdfast.transaction;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockRule;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.core.UnlockedCallException;
import io.github.holdfast.store.TransactionLease;

/**
 * Decides on locked calls inside a running transaction. A lock that is taken there is
 * released before the transaction commits, and the transaction may have read its data
 * before the lock was taken. A call after its commit, from one of its callbacks, works
 * apart from it.
 *
 * @since 0.2.0
 */
public final class ActiveTransactionRule implements LockRule {

	private static final Logger logger = LoggerFactory.getLogger(ActiveTransactionRule.class);

	/**
	 * As many places as no application has; a name that contains a key would add more.
	 */
	private static final int MOST_PLACES = 1000;

	private static final String OTHERS = "other";

	/** With these a body runs in a transaction, or is refused. */
	private static final Set<Propagation> BRINGS_TRANSACTION = EnumSet.of(Propagation.REQUIRED, Propagation.MANDATORY,
			Propagation.REQUIRES_NEW, Propagation.NESTED);

	private final OnActiveTransaction policy;

	private final Set<String> reported = ConcurrentHashMap.newKeySet();

	private volatile BiConsumer<String, String> counter = (lock, transaction) -> {
	};

	/**
	 * Create a rule.
	 * @param policy what to do
	 */
	public ActiveTransactionRule(OnActiveTransaction policy) {
		this.policy = policy;
	}

	/**
	 * Count the calls that are only reported.
	 * @param counter gets the name of the lock, and that of the transaction
	 */
	public void setCounter(BiConsumer<String, String> counter) {
		this.counter = counter;
	}

	@Override
	public void beforeAcquire(Attempt attempt) {
		if (this.policy != OnActiveTransaction.REPORT) {
			check(attempt);
			return;
		}
		try {
			check(attempt);
		}
		catch (IllegalStateException ex) {
			report(attempt, ex);
			throw new UnlockedCallException(ex);
		}
	}

	private void report(Attempt attempt, IllegalStateException refusal) {
		String transaction = String.valueOf(TransactionSynchronizationManager.getCurrentTransactionName());
		String place = attempt.name() + " in " + transaction;
		if (this.reported.size() < MOST_PLACES && this.reported.add(place)) {
			logger.warn(
					"Without 'report' of 'holdfast.on-active-transaction', this call would be refused; it goes on "
							+ "without the lock, and further ones of {} are only counted: {}",
					place, refusal.getMessage());
		}
		boolean known = this.reported.contains(place);
		this.counter.accept(known ? attempt.name() : OTHERS, known ? transaction : OTHERS);
	}

	private void check(Attempt attempt) {
		if (leavesTransaction(attempt.propagation())) {
			refuseToStay(attempt, TransactionStack.staysDespite(attempt.transactionManager()));
			return;
		}
		refuseToStay(attempt, TransactionStack.hidden());
		RunningTransaction running = TransactionStack.current();
		if ((running != null) ? !running.isSql()
				: !TransactionSynchronizationManager.isActualTransactionActive() || ManagerResources.isNothingBound()) {
			return;
		}
		if (hasEnded(running)) {
			if (running == null || attempt.propagation() != null) {
				throw refusedAfterCommit(attempt);
			}
			return;
		}
		if (attempt.mode() == LockRequest.Mode.OPTIMISTIC) {
			throw refused(attempt,
					"is optimistic and called inside a running transaction"
							+ transactionName(TransactionSynchronizationManager.getCurrentTransactionName())
							+ ", which it cannot run again when its commit is overtaken. "
							+ "Call the method without a transaction around it; or give it a transaction of its own "
							+ "with @Transactional(propagation = REQUIRES_NEW), which needs a second connection; "
							+ "or lock exclusively. In a test, remove @Transactional from the test");
		}
		if (this.policy != OnActiveTransaction.RELEASE_AFTER_COMPLETION) {
			throw refused(attempt, "is called inside a running transaction"
					+ transactionName(TransactionSynchronizationManager.getCurrentTransactionName())
					+ ", which would commit after the lock is released and may have read old data already. "
					+ "Take the lock around that transaction, by @DistributedLock on its method, or call the locked "
					+ "method without it; or give the locked method a transaction of its own, with "
					+ "@Transactional(propagation = REQUIRES_NEW); or set 'holdfast.on-active-transaction' to "
					+ "'release-after-completion'. The last two need a second connection. In a test, remove "
					+ "@Transactional from the test, as it runs around the whole method");
		}
	}

	/**
	 * Refuse a method that leaves the transaction of its own manager inside of one that
	 * has begun unseen.
	 */
	static void refuseInUnseen(Attempt attempt) {
		if (leavesTransaction(attempt.propagation())
				&& TransactionStack.staysUnseenDespite(attempt.transactionManager())) {
			throw refused(attempt, "is called inside a running transaction"
					+ transactionName(TransactionSynchronizationManager.getCurrentTransactionName())
					+ " whose manager is not known, as it is no bean or its listeners had been replaced, and whose "
					+ "connection stays bound to the thread although the method belongs to another manager: what "
					+ "it writes there would be committed after the lock is released. Call the method without that "
					+ "transaction around it, and use addListener instead of setTransactionExecutionListeners");
		}
	}

	/**
	 * A manager takes only the connections of its own transactions away from the thread.
	 */
	private static void refuseToStay(Attempt attempt, @Nullable RunningTransaction staying) {
		if (staying != null) {
			throw refused(attempt, "is called inside a running transaction" + transactionName(staying.name())
					+ " of the transaction manager '" + staying.manager().beanName()
					+ "', whose connection stays bound to the thread although the method belongs to another manager: "
					+ "what it writes there would be committed after the lock is released. Use one transaction manager "
					+ "for both, or call the method without that transaction around it; or, if nothing that locks "
					+ "protect is changed through '" + staying.manager().beanName()
					+ "', name it in 'holdfast.unguarded-transaction-managers'");
		}
	}

	/**
	 * Joining a running transaction under the lock is what re-entrancy is for. That
	 * transaction belongs to the lock since its begin or the acquisition. One that has
	 * ended may be written to if it does, as that is checked.
	 */
	@Override
	public void beforeReentry(Attempt attempt) {
		if (!isInCheckedTransaction(attempt)) {
			holders(attempt.keys()).forEach((lock) -> refuseWithoutLock(attempt, lock));
		}
		RunningTransaction running = leavesTransaction(attempt.propagation())
				? TransactionStack.staysDespite(attempt.transactionManager()) : TransactionStack.current();
		if (running == null || !running.isSql()) {
			return;
		}
		if (running.hasEnded()
				&& (attempt.propagation() != null || !holders(attempt.keys()).stream().allMatch(running::dependsOn))) {
			throw refusedAfterCommit(attempt);
		}
	}

	/**
	 * Whether a transaction of its own, or the current one, is checked for the locks that
	 * are held.
	 */
	private static boolean isInCheckedTransaction(Attempt attempt) {
		if (attempt.propagation() != null && attempt.propagation() != Propagation.SUPPORTS) {
			return BRINGS_TRANSACTION.contains(attempt.propagation());
		}
		RunningTransaction current = TransactionStack.current();
		return current != null && current.isSql() && !current.hasEnded()
				&& holders(attempt.keys()).stream().allMatch(current::dependsOn);
	}

	/**
	 * What a transaction has locked is free after its ROLLBACK, and after a COMMIT that
	 * has not left it to callbacks; and what is done without one is not checked.
	 */
	private static void refuseWithoutLock(Attempt attempt, HeldLock lock) {
		if (lock.leases().stream().anyMatch((lease) -> lease instanceof TransactionLease && !lease.isValid())) {
			lock.commits().bodyNotAlone();
			throw refused(attempt, "was that of the transaction which has just ended, and ended with it. From the "
					+ "next call on, it is held until the callbacks of the transaction are over");
		}
	}

	private static List<HeldLock> holders(List<String> keys) {
		return LockStack.all().stream().filter((lock) -> !Collections.disjoint(lock.keys(), keys)).toList();
	}

	private static IllegalStateException refusedAfterCommit(Attempt attempt) {
		return refused(attempt,
				"is called after the commit, where what it writes would go to the transaction that has ended, "
						+ "and never be checked or never be written. Declare the method "
						+ "@Transactional(propagation = REQUIRES_NEW)");
	}

	@Override
	public void acquired(HeldLock lock) {
		RunningTransaction running = TransactionStack.current();
		if (running == null || !running.isSql()) {
			return;
		}
		if (running.hasEnded() || leavesTransaction(lock.propagation())) {
			running.suspendFor(lock);
		}
		else {
			running.belongsTo(lock);
			if (this.policy == OnActiveTransaction.RELEASE_AFTER_COMPLETION) {
				lock.releaseLater(running::whenOver);
			}
		}
	}

	@Override
	public void beforeRelease(HeldLock lock) {
		TransactionStack.resumeAfter(lock);
	}

	/**
	 * While {@code afterCompletion} callbacks run, Spring still calls the transaction
	 * active but has taken its synchronizations away.
	 */
	private static boolean hasEnded(@Nullable RunningTransaction running) {
		return (running != null) ? running.hasEnded() : !TransactionSynchronizationManager.isSynchronizationActive();
	}

	private static boolean leavesTransaction(@Nullable Propagation propagation) {
		return propagation == Propagation.REQUIRES_NEW || propagation == Propagation.NOT_SUPPORTED;
	}

	private static String transactionName(@Nullable String name) {
		return (name != null) ? " (" + name + ")" : "";
	}

	private static IllegalStateException refused(Attempt attempt, String reason) {
		return new IllegalStateException(
				"Lock " + LockException.quote(attempt.keys().get(0)) + " (" + attempt.name() + ") " + reason + ".");
	}

}
