package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.holdfast.LockException;
import io.github.holdfast.core.LockCall;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.resource.jdbc.internal.LogicalConnectionManagedImpl;
import org.hibernate.resource.jdbc.spi.LogicalConnectionImplementor;
import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Gives locked calls a separate persistence context if one is already open ("open session
 * in view"). The open one can hold entities from before the lock, and a connection.
 */
public final class ViewContexts {

	private static final boolean HIBERNATE = ClassUtils.isPresent("org.hibernate.Session",
			ViewContexts.class.getClassLoader());

	private static final ThreadLocal<@Nullable Replaced> INNERMOST = new ThreadLocal<>();

	private final boolean isolate;

	/**
	 * Create the contexts of locked calls.
	 * @param isolate whether calls get a separate context, or use the open one
	 */
	public ViewContexts(boolean isolate) {
		this.isolate = isolate;
	}

	private static Map<Object, EntityManagerHolder> open() {
		Map<Object, EntityManagerHolder> open = new LinkedHashMap<>();
		TransactionSynchronizationManager.getResourceMap().forEach((key, value) -> {
			if (value instanceof EntityManagerHolder holder && value.getClass() == EntityManagerHolder.class
					&& !holder.isSynchronizedWithTransaction() && holder.getEntityManager().isOpen()) {
				open.put(key, holder);
			}
		});
		return open;
	}

	/**
	 * Refuses a call that would leave changes or filters behind. The open contexts give
	 * up their connections, with their snapshots: the call would need a second one.
	 */
	void check(LockCall call) {
		if (call.missing().isEmpty() || !HIBERNATE) {
			return;
		}
		for (EntityManagerHolder holder : open().values()) {
			Hibernate.giveUpConnection(holder);
			if (!this.isolate) {
				continue;
			}
			if (Hibernate.hasChanges(holder)) {
				throw refused(call, "finds an open persistence context with changes that are not flushed. The locked "
						+ "call would not see them, and they would be written later, without the lock. Change entities "
						+ "under the lock only, or write them in an earlier transaction");
			}
			if (Hibernate.hasFilters(holder)) {
				throw refused(call, "finds an open persistence context with enabled filters, which the context of "
						+ "the locked call would not have. Enable them in the locked method");
			}
		}
	}

	private static IllegalStateException refused(LockCall call, String reason) {
		return new IllegalStateException("Lock " + LockException.quote(call.keys().get(0)) + " (" + call.name() + ") "
				+ reason + ", or set 'holdfast.jpa.stale-context' to 'allow'");
	}

	void replace(LockCall call) {
		Map<Object, EntityManagerHolder> open = (!this.isolate || call.missing().isEmpty()) ? Map.of() : open();
		if (open.isEmpty()) {
			return;
		}
		Replaced replaced = new Replaced(call, INNERMOST.get(), new ArrayList<>());
		open.forEach((key, waiting) -> replaced.contexts
			.add(new Context(key, waiting, new EntityManagerHolder(create((EntityManagerFactory) key)))));
		// No context is replaced if one of the others cannot be created
		INNERMOST.set(replaced);
		replaced.contexts.forEach((context) -> {
			TransactionSynchronizationManager.unbindResource(context.key);
			TransactionSynchronizationManager.bindResource(context.key, context.own);
		});
	}

	private static EntityManager create(EntityManagerFactory factory) {
		return (factory instanceof EntityManagerFactoryInfo info) ? info.createNativeEntityManager(null)
				: factory.createEntityManager();
	}

	void putBack(LockCall call) {
		Replaced replaced = INNERMOST.get();
		if (replaced == null || replaced.call != call) {
			return;
		}
		INNERMOST.set(replaced.outer);
		boolean changed = false;
		for (Context context : replaced.contexts) {
			if (TransactionSynchronizationManager.getResource(context.key) == context.own) {
				TransactionSynchronizationManager.unbindResource(context.key);
				TransactionSynchronizationManager.bindResource(context.key, context.waiting);
			}
		}
		for (Context context : replaced.contexts) {
			changed |= HIBERNATE && !call.isCommitted() && Hibernate.hasChanges(context.own);
			EntityManagerFactoryUtils.closeEntityManager(context.own.getEntityManager());
			if (replaced.outer != null && call.isCommitted()) {
				// An outer locked call must see what this one has committed
				context.waiting.getEntityManager().clear();
			}
		}
		if (changed) {
			throw refused(call, "ends with changes of entities that no transaction has written. They are discarded. "
					+ "Declare the locked method @Transactional");
		}
	}

	private record Replaced(LockCall call, @Nullable Replaced outer, List<Context> contexts) {

	}

	private record Context(Object key, EntityManagerHolder waiting, EntityManagerHolder own) {

	}

	/**
	 * Checks that only Hibernate offers.
	 */
	private static final class Hibernate {

		private static @Nullable SessionImplementor session(EntityManagerHolder holder) {
			try {
				return holder.getEntityManager().unwrap(SessionImplementor.class);
			}
			catch (RuntimeException ex) {
				// Another provider
				return null;
			}
		}

		static boolean hasChanges(EntityManagerHolder holder) {
			SessionImplementor session = session(holder);
			return session != null && session.getStatistics().getEntityCount() > 0 && session.isDirty();
		}

		static boolean hasFilters(EntityManagerHolder holder) {
			SessionImplementor session = session(holder);
			return session != null && session.getLoadQueryInfluencers()
				.getEnabledFilters()
				.values()
				.stream()
				.anyMatch((filter) -> !filter.isAutoEnabled());
		}

		static void giveUpConnection(EntityManagerHolder holder) {
			SessionImplementor session = session(holder);
			if (session == null || session.isTransactionInProgress()) {
				return;
			}
			LogicalConnectionImplementor connection = session.getJdbcCoordinator().getLogicalConnection();
			if (!(connection instanceof LogicalConnectionManagedImpl) || !connection.isPhysicallyConnected()
					|| connection.getResourceRegistry().hasRegisteredResources()) {
				return;
			}
			OpenTransaction.rollBack(connection.getPhysicalConnection());
			connection.manualDisconnect();
		}

	}

}
