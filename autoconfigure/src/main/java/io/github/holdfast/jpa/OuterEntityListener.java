package io.github.holdfast.jpa;

import jakarta.persistence.EntityManagerFactory;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.spi.EventType;
import org.hibernate.event.spi.MergeContext;
import org.hibernate.event.spi.MergeEvent;
import org.hibernate.event.spi.MergeEventListener;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;

/**
 * Refuses to merge an entity that was read before the lock into the persistence context
 * of the locked call: its state would overwrite what others have done since.
 *
 * @since 0.2.0
 */
public final class OuterEntityListener implements MergeEventListener {

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
			sessions.getEventListenerRegistry().prependListeners(EventType.MERGE, new OuterEntityListener());
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

}
