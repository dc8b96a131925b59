package io.github.holdfast.transaction;

import java.util.List;

import jakarta.persistence.EntityManager;
import org.hibernate.Session;
import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.EntityManagerProxy;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * A JPA persistence context that is bound to the current thread. JPA itself does not tell
 * what a context holds, Hibernate does.
 */
final class PersistenceContext {

	private static final boolean HIBERNATE_PRESENT = ClassUtils.isPresent("org.hibernate.Session",
			PersistenceContext.class.getClassLoader());

	private final EntityManager manager;

	private PersistenceContext(EntityManager manager) {
		this.manager = (manager instanceof EntityManagerProxy proxy) ? proxy.getTargetEntityManager() : manager;
	}

	/**
	 * The contexts, of any factory, that a body would find on this thread.
	 * @param propagation how the transaction of the body relates to a running one, or
	 * {@code null} if the body declares none
	 */
	static List<PersistenceContext> usedBy(@Nullable Propagation propagation) {
		boolean suspending = suspends(propagation);
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.filter(EntityManagerHolder.class::isInstance)
			.map(EntityManagerHolder.class::cast)
			.filter((holder) -> !suspending || !holder.isSynchronizedWithTransaction())
			.map((holder) -> new PersistenceContext(holder.getEntityManager()))
			.toList();
	}

	/**
	 * Whether the body begins with a suspension of what belongs to the current
	 * transaction, or to a scope of synchronizations without one. A context that was
	 * bound before any transaction, as for open-in-view, stays.
	 */
	private static boolean suspends(@Nullable Propagation propagation) {
		if (propagation == null) {
			return false;
		}
		boolean running = TransactionSynchronizationManager.isActualTransactionActive();
		return switch (propagation) {
			case REQUIRES_NEW -> true;
			case NOT_SUPPORTED -> running;
			case REQUIRED, NESTED -> !running;
			case SUPPORTS, MANDATORY, NEVER -> false;
		};
	}

	/**
	 * Whether can be told what this context holds.
	 */
	boolean isKnown() {
		return HIBERNATE_PRESENT && this.manager instanceof Session;
	}

	int entityCount() {
		return session().getStatistics().getEntityCount();
	}

	boolean hasUnflushedChanges() {
		return session().isDirty();
	}

	void clear() {
		this.manager.clear();
	}

	String type() {
		return this.manager.getClass().getName();
	}

	private Session session() {
		return (Session) this.manager;
	}

}
