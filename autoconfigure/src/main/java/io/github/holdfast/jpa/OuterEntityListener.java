package io.github.holdfast.jpa;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.persistence.EntityManagerFactory;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.spi.EventType;
import org.hibernate.event.spi.MergeContext;
import org.hibernate.event.spi.MergeEvent;
import org.hibernate.event.spi.MergeEventListener;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.event.spi.PostUpdateEventListener;
import org.hibernate.persister.entity.EntityPersister;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;

/**
 * Refuses to merge an entity that was read before the lock into the persistence context
 * of the locked call: its state would overwrite what others have done since. And tells,
 * once for each class, of one that is changed under the lock: whoever has read it before,
 * still has it as it was.
 *
 * @since 0.2.0
 */
public final class OuterEntityListener implements MergeEventListener, PostUpdateEventListener {

	private static final Logger logger = LoggerFactory.getLogger(OuterEntityListener.class);

	private final Set<String> told = ConcurrentHashMap.newKeySet();

	private OuterEntityListener() {
	}

	/**
	 * Let a factory of Hibernate refuse such entities; others stay as they are.
	 * @param factory the factory
	 */
	public static void register(EntityManagerFactory factory) {
		EntityManagerFactory real = (factory instanceof EntityManagerFactoryInfo proxy)
				? proxy.getNativeEntityManagerFactory() : factory;
		if (real instanceof SessionFactoryImplementor sessions) {
			OuterEntityListener listener = new OuterEntityListener();
			sessions.getEventListenerRegistry().prependListeners(EventType.MERGE, listener);
			sessions.getEventListenerRegistry().appendListeners(EventType.POST_UPDATE, listener);
		}
	}

	@Override
	public void onMerge(MergeEvent event) {
		Object entity = event.getOriginal();
		if (entity != null && IsolatedContexts.hasWaiting(entity, event.getFactory())) {
			throw new IllegalStateException("An entity of " + entity.getClass().getName()
					+ " that was read before the lock is saved under it, which would overwrite what others have "
					+ "changed since. Pass its id to the locked method, read it there, and change that");
		}
	}

	@Override
	public void onMerge(MergeEvent event, MergeContext copiedAlready) {
		onMerge(event);
	}

	@Override
	public void onPostUpdate(PostUpdateEvent event) {
		EntityKey key = event.getSession().generateEntityKey(event.getId(), event.getPersister());
		if (IsolatedContexts.hasWaiting(key, event.getFactory()) && this.told.add(key.getEntityName())) {
			logger.info(
					"An entity of {} was read before the lock, and is changed under it: who has read it still has it "
							+ "as it was. Answer with what the locked method returns, or refresh it after the call",
					key.getEntityName());
		}
	}

	@Override
	public boolean requiresPostCommitHandling(EntityPersister persister) {
		return false;
	}

}
