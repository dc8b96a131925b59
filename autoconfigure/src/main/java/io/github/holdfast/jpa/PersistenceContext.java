package io.github.holdfast.jpa;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.Filter;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.engine.spi.Status;
import org.hibernate.internal.FilterImpl;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.resource.jdbc.internal.LogicalConnectionManagedImpl;
import org.hibernate.resource.jdbc.spi.LogicalConnectionImplementor;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.EntityManagerProxy;
import org.springframework.orm.jpa.hibernate.SessionHolder;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * A JPA persistence context that is bound to the current thread. JPA itself does not tell
 * what a context holds, Hibernate does.
 */
public final class PersistenceContext {

	private static final boolean HIBERNATE_PRESENT = ClassUtils.isPresent("org.hibernate.Session",
			PersistenceContext.class.getClassLoader());

	private static final Logger logger = LoggerFactory.getLogger(PersistenceContext.class);

	private final EntityManager manager;

	private final boolean canBeIsolated;

	private PersistenceContext(EntityManagerHolder holder) {
		EntityManager manager = holder.getEntityManager();
		this.manager = (manager instanceof EntityManagerProxy proxy) ? proxy.getTargetEntityManager() : manager;
		this.canBeIsolated = !holder.isSynchronizedWithTransaction()
				&& (holder.getClass() == EntityManagerHolder.class || isOfHibernate(holder));
	}

	/**
	 * Whether it is one of Hibernate's own transaction manager and views, which look for
	 * this type.
	 */
	private static boolean isOfHibernate(EntityManagerHolder holder) {
		return HIBERNATE_PRESENT
				&& holder.getClass().getName().equals("org.springframework.orm.jpa.hibernate.SessionHolder");
	}

	static PersistenceContext of(EntityManagerHolder holder) {
		return new PersistenceContext(holder);
	}

	/**
	 * The contexts, of any factory, that a body would find on this thread.
	 * @param propagation how the transaction of the body relates to a running one, or
	 * {@code null} if the body declares none
	 */
	public static List<PersistenceContext> usedBy(@Nullable Propagation propagation) {
		boolean suspending = suspends(propagation);
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.filter(EntityManagerHolder.class::isInstance)
			.map(EntityManagerHolder.class::cast)
			.filter((holder) -> !suspending || !holder.isSynchronizedWithTransaction())
			.map(PersistenceContext::of)
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
	 * Whether a locked call can have another one instead: not of one that belongs to a
	 * transaction, or to a scope of synchronizations.
	 */
	public boolean canBeIsolated() {
		return this.canBeIsolated;
	}

	/**
	 * A new context like one that can be isolated, with the filters that are enabled
	 * there.
	 * @param key what it is bound to the thread for
	 * @param holder holds the one that is there
	 */
	static EntityManagerHolder another(Object key, EntityManagerHolder holder) {
		EntityManagerFactory factory = (key instanceof EntityManagerFactory itself) ? itself
				: holder.getEntityManager().getEntityManagerFactory();
		// Not one of Spring's that would join each transaction with one of its own
		EntityManager manager = (factory instanceof EntityManagerFactoryInfo info)
				? info.createNativeEntityManager(null) : factory.createEntityManager();
		PersistenceContext there = of(holder);
		if (!there.isKnown()) {
			return new EntityManagerHolder(manager);
		}
		EntityManagerHolder another = Hibernate.holder(manager, isOfHibernate(holder));
		Hibernate.prepare(of(another).session(), there.session());
		return another;
	}

	/**
	 * Whether can be told what this context holds.
	 */
	public boolean isKnown() {
		return HIBERNATE_PRESENT && this.manager instanceof Session;
	}

	/**
	 * Whether an entity is one of this context.
	 * @param entity any object, or an {@code EntityKey}
	 * @param factory the factory of its class
	 */
	boolean holds(Object entity, Object factory) {
		if (!isKnown() || session().getSessionFactory() != factory) {
			return false;
		}
		return (entity instanceof EntityKey key)
				? ((SessionImplementor) session()).getPersistenceContextInternal().containsEntity(key)
				: session().contains(entity);
	}

	public int entityCount() {
		return session().getStatistics().getEntityCount();
	}

	public boolean hasUnflushedChanges() {
		return session().isDirty();
	}

	public void clear() {
		this.manager.clear();
	}

	/**
	 * Whether an application flushes the session of the running transaction itself, so
	 * that a commit does not.
	 * @param factory the factory of the session
	 */
	public static boolean isFlushedManually(Object factory) {
		return HIBERNATE_PRESENT
				&& TransactionSynchronizationManager.getResource(factory) instanceof EntityManagerHolder holder
				&& of(holder).isFlushedManually();
	}

	private boolean isFlushedManually() {
		return isKnown() && session().getHibernateFlushMode() == FlushMode.MANUAL;
	}

	/**
	 * The contexts that are bound to the current thread without a transaction, of any
	 * factory.
	 */
	public static List<PersistenceContext> boundWithoutTransaction() {
		boolean running = TransactionSynchronizationManager.isActualTransactionActive();
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.filter(EntityManagerHolder.class::isInstance)
			.map(EntityManagerHolder.class::cast)
			.filter((holder) -> !running || !holder.isSynchronizedWithTransaction())
			.map(PersistenceContext::of)
			.toList();
	}

	/**
	 * Give the connection back to its pool that a context keeps between its transactions,
	 * and with it the snapshot of a pool without auto-commit. The next statement gets
	 * another one. A connection from which a result is still read is kept, and only
	 * rolled back if its isolation may keep a snapshot: that may end the result.
	 */
	public void giveUpConnection() {
		if (!isKnown() || !(this.manager instanceof SharedSessionContractImplementor session)
				|| session.isTransactionInProgress()) {
			return;
		}
		LogicalConnectionImplementor connection = session.getJdbcCoordinator().getLogicalConnection();
		if (!(connection instanceof LogicalConnectionManagedImpl) || !connection.isPhysicallyConnected()) {
			return;
		}
		boolean read = connection.getResourceRegistry().hasRegisteredResources();
		try {
			Connection physical = connection.getPhysicalConnection();
			if (!physical.getAutoCommit() && !(read && seesNewData(physical))) {
				physical.rollback();
			}
		}
		catch (SQLException ex) {
			logger.debug("A broken connection goes back to its pool, which replaces it", ex);
			read = false;
		}
		if (!read) {
			connection.manualDisconnect();
		}
	}

	private static boolean seesNewData(Connection connection) throws SQLException {
		int isolation = connection.getTransactionIsolation();
		return isolation == Connection.TRANSACTION_READ_COMMITTED
				|| isolation == Connection.TRANSACTION_READ_UNCOMMITTED;
	}

	/**
	 * Whether entities have changed since this context was last flushed, and will be
	 * written by a later transaction.
	 */
	public boolean hasChangesForLater() {
		return hasChanges() && !isFlushedManually();
	}

	/**
	 * The same, whether or not the application flushes this context itself: a transaction
	 * that finds one of a view lets it be flushed by its commit.
	 */
	public boolean hasChanges() {
		if (!isKnown() || !this.manager.isOpen() || entityCount() == 0) {
			return false;
		}
		SessionImplementor session = (SessionImplementor) this.manager;
		return !session.isTransactionInProgress() && hasUnflushedChanges() && !isOnlySeeminglyDirty(session);
	}

	/**
	 * Whether Hibernate would call the context changed whatever was done: because of
	 * attributes without an {@code equals} method, whose value differs even from a copy
	 * of itself.
	 */
	private static boolean isOnlySeeminglyDirty(SessionImplementor session) {
		for (Map.Entry<Object, EntityEntry> each : session.getPersistenceContextInternal()
			.reentrantSafeEntityEntries()) {
			if (isReallyDirty(each.getKey(), each.getValue(), session)) {
				return false;
			}
		}
		Map<PersistentCollection<?>, ?> collections = session.getPersistenceContextInternal().getCollectionEntries();
		return collections == null || collections.keySet().stream().noneMatch(PersistentCollection::isDirty);
	}

	private static boolean isReallyDirty(Object entity, EntityEntry entry, SessionImplementor session) {
		@Nullable Object @Nullable [] loaded = entry.getLoadedState();
		if (entry.getStatus() != Status.MANAGED || !entry.isExistsInDatabase() || loaded == null) {
			return entry.getStatus() != Status.READ_ONLY;
		}
		EntityPersister persister = entry.getPersister();
		int[] dirty = persister.findDirty(persister.getValues(entity), loaded, entity, session);
		return dirty != null && Arrays.stream(dirty).anyMatch((i) -> {
			Type type = persister.getPropertyTypes()[i];
			Object copy = type.deepCopy(loaded[i], session.getFactory());
			return !type.isDirty(loaded[i], copy, session);
		});
	}

	public String type() {
		return this.manager.getClass().getName();
	}

	private Session session() {
		return (Session) this.manager;
	}

	/**
	 * Apart, as these classes need not be there.
	 */
	private static final class Hibernate {

		static EntityManagerHolder holder(EntityManager manager, boolean ofItsOwn) {
			return ofItsOwn ? new SessionHolder((Session) manager) : new EntityManagerHolder(manager);
		}

		static void prepare(Session session, Session like) {
			session.setHibernateFlushMode(like.getHibernateFlushMode());
			((SharedSessionContractImplementor) like).getLoadQueryInfluencers()
				.getEnabledFilters()
				.values()
				.forEach((filter) -> enable(session, (FilterImpl) filter));
		}

		private static void enable(Session session, FilterImpl filter) {
			Filter enabled = session.enableFilter(filter.getName());
			for (String name : filter.getFilterDefinition().getParameterNames()) {
				Object value = filter.getParameter(name);
				if (value instanceof Collection<?> values) {
					enabled.setParameterList(name, values);
				}
				else if (value != null) {
					enabled.setParameter(name, value);
				}
			}
		}

	}

}
