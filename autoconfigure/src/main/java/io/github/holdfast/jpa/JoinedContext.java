package io.github.holdfast.jpa;

import java.util.List;
import java.util.Map;

import jakarta.persistence.EntityManager;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * A JPA persistence context that has joined a transaction, or a scope of
 * synchronizations, with a transaction of its own on another connection: an extended one
 * ({@code PersistenceContextType.EXTENDED}), or one that the application has created to
 * be synchronized. Spring commits it when the one that it has joined has been committed.
 */
public final class JoinedContext {

	/** How it is called where it is refused. */
	public static final String DESCRIPTION = "an extended persistence context (PersistenceContextType.EXTENDED or "
			+ "SynchronizationType.SYNCHRONIZED)";

	private static final boolean JPA = ClassUtils.isPresent("jakarta.persistence.EntityManager",
			JoinedContext.class.getClassLoader());

	private JoinedContext() {
	}

	/**
	 * Whether one has joined the transaction or scope of this thread with a transaction
	 * of its own.
	 * @return {@code false} also without JPA
	 */
	public static boolean isAny() {
		if (!JPA) {
			return false;
		}
		for (Map.Entry<Object, Object> bound : TransactionSynchronizationManager.getResourceMap().entrySet()) {
			if (isJoined(bound)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Let none of them commit.
	 */
	public static void setRollbackOnly() {
		List<EntityManager> joined = TransactionSynchronizationManager.getResourceMap()
			.entrySet()
			.stream()
			.filter(JoinedContext::isJoined)
			.map((bound) -> (EntityManager) bound.getKey())
			.toList();
		joined.forEach((context) -> context.getTransaction().setRollbackOnly());
	}

	/**
	 * Spring binds the callback by which it commits, for the context itself.
	 */
	private static boolean isJoined(Map.Entry<Object, Object> bound) {
		return bound.getValue() instanceof TransactionSynchronization && bound.getKey() instanceof EntityManager;
	}

}
