package io.github.holdfast.transaction;

import java.util.List;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockException;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockRule;
import io.github.holdfast.jpa.IsolatedContexts;
import io.github.holdfast.jpa.PersistenceContext;
import io.github.holdfast.jpa.StaleContext;

/**
 * Decides on locked calls whose body would use a JPA persistence context that holds
 * entities already: of open-in-view, or of a running transaction. Calls for keys that are
 * held already are not looked at, as what they find was read under the lock.
 *
 * <p>
 * Not seen are extended persistence contexts, which Spring does not bind to the thread.
 *
 * @since 0.2.0
 */
public final class StaleContextRule implements LockRule {

	/** Others would leave what an earlier lock of the transaction has read or changed. */
	private static final String LOCK_FIRST = "take the lock before the transaction begins, by @DistributedLock with all "
			+ "keys on the method that begins the transaction, as in key = \"{'a:' + #a, 'b:' + #b}\"; calls for these "
			+ "keys then go on inside";

	private final StaleContext policy;

	/**
	 * Create a rule.
	 * @param policy what to do
	 */
	public StaleContextRule(StaleContext policy) {
		this.policy = policy;
	}

	@Override
	public void beforeAcquire(Attempt attempt) {
		if (this.policy != StaleContext.ALLOW && !worksApart()) {
			PersistenceContext.usedBy(attempt.propagation()).forEach((context) -> check(attempt, context));
		}
	}

	/**
	 * A call after the commit does not see the context of the transaction that has ended.
	 */
	private static boolean worksApart() {
		RunningTransaction running = TransactionStack.current();
		return running != null && running.isSql() && running.hasEnded();
	}

	private void check(Attempt attempt, PersistenceContext context) {
		if (this.policy == StaleContext.ISOLATE && context.canBeIsolated()) {
			if (context.hasChanges()) {
				throw refused(attempt,
						"finds a persistence context with changes that are not flushed: the locked call "
								+ "would not see them, and they would be written later, without the lock. "
								+ "Change entities under the lock only, or write them in a transaction before");
			}
			return;
		}
		if (!context.isKnown()) {
			throw refused(attempt, "finds an open persistence context (" + context.type()
					+ ") that does not tell whether it holds entities from before the lock, as it is not Hibernate's. "
					+ "Set 'spring.jpa.open-in-view' to 'false', or take the lock before the transaction begins; "
					+ "or set 'holdfast.jpa.stale-context' to 'allow' if entities are read under the lock only");
		}
		if (context.entityCount() == 0) {
			return;
		}
		if (this.policy != StaleContext.CLEAR) {
			throw refused(attempt,
					"finds a persistence context with entities from before the lock (" + context.entityCount()
							+ "), which it would use as they were then, and overwrite what others have changed since. "
							+ "Read them under the lock only: "
							+ (isInTransaction() ? LOCK_FIRST
									: "take the lock before the transaction begins, "
											+ "or set 'spring.jpa.open-in-view' to 'false'; "
											+ "or set 'holdfast.jpa.stale-context' to 'clear' to detach them when the "
											+ "lock is held"));
		}
		if (context.hasUnflushedChanges()) {
			throw refused(attempt,
					"finds a persistence context with changes that are not flushed, "
							+ "which 'clear' of 'holdfast.jpa.stale-context' would lose. "
							+ (isInTransaction() ? "Change entities under the lock only: " + LOCK_FIRST
									: "Change entities under the lock only, or flush them in a transaction before"));
		}
	}

	private static boolean isInTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive();
	}

	@Override
	public boolean replaces(Object resource) {
		return this.policy == StaleContext.ISOLATE && IsolatedContexts.canReplace(resource);
	}

	@Override
	public void acquired(HeldLock lock) {
		if (this.policy == StaleContext.CLEAR) {
			PersistenceContext.usedBy(lock.propagation()).forEach(PersistenceContext::clear);
		}
		else if (this.policy == StaleContext.ISOLATE) {
			IsolatedContexts.begin(lock);
		}
	}

	/**
	 * Changes of a context that goes now would be lost, and those of one that has waited
	 * be written without the lock.
	 */
	@Override
	public void closed(HeldLock lock) {
		if (this.policy != StaleContext.ISOLATE) {
			return;
		}
		List<PersistenceContext> changed = IsolatedContexts.changed(lock);
		changed.forEach(PersistenceContext::clear);
		IsolatedContexts.end(lock);
		if (!changed.isEmpty()) {
			throw new IllegalStateException(described(lock)
					+ " has ended with changes of entities that no transaction has written: of entities that were read "
					+ "before the lock, or under it without a transaction. They were dropped; what was committed stays. "
					+ "Declare the locked method @Transactional, pass ids instead of entities, and read them there");
		}
	}

	private static String described(HeldLock lock) {
		return "Lock " + LockException.quote(lock.keys().get(0)) + " (" + lock.name() + ")";
	}

	/**
	 * Entities that were changed without a transaction would be written by one that comes
	 * later, when the lock is somebody else's.
	 */
	@Override
	public void beforeRelease(HeldLock lock) {
		if (this.policy == StaleContext.ALLOW) {
			return;
		}
		for (PersistenceContext context : PersistenceContext.usedBy(lock.propagation())) {
			if (context.hasChangesForLater()) {
				context.clear();
				throw new IllegalStateException(described(lock)
						+ " ends while a persistence context holds changes that were made under it without a "
						+ "transaction: a later one would write them without the lock. They were dropped. "
						+ "Declare the locked method @Transactional");
			}
		}
	}

	private static IllegalStateException refused(Attempt attempt, String reason) {
		return new IllegalStateException(
				"Lock " + LockException.quote(attempt.keys().get(0)) + " (" + attempt.name() + ") " + reason + ".");
	}

}
