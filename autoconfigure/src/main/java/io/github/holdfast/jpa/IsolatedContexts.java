package io.github.holdfast.jpa;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.core.HeldLock;

/**
 * The persistence contexts of the current thread that wait until a locked call is over,
 * which has got new ones in their place: of open-in-view, and of an outer locked call.
 * Those of transactions stay where they are; who suspends the transaction, suspends them.
 */
public final class IsolatedContexts {

	private static final ThreadLocal<IsolatedContexts> INNERMOST = new ThreadLocal<>();

	private final HeldLock lock;

	private final Map<Object, Replaced> replaced = new LinkedHashMap<>();

	private @Nullable IsolatedContexts outer;

	private boolean ended;

	private IsolatedContexts(HeldLock lock, @Nullable IsolatedContexts outer) {
		this.lock = lock;
		this.outer = outer;
	}

	/**
	 * Give a call new contexts. If that fails, {@link #end} puts back what it has
	 * replaced.
	 */
	public static void begin(HeldLock lock) {
		putBackLeft();
		IsolatedContexts contexts = null;
		for (Map.Entry<Object, Object> resource : List
			.copyOf(TransactionSynchronizationManager.getResourceMap().entrySet())) {
			if (canReplace(resource.getValue())) {
				if (contexts == null) {
					contexts = new IsolatedContexts(lock, INNERMOST.get());
					INNERMOST.set(contexts);
				}
				contexts.replace(resource.getKey(), (EntityManagerHolder) resource.getValue());
			}
		}
	}

	/**
	 * Whether a resource of the thread is a context that a call gets a new one for.
	 */
	public static boolean canReplace(Object resource) {
		return resource instanceof EntityManagerHolder holder && PersistenceContext.of(holder).canBeIsolated();
	}

	private void replace(Object key, EntityManagerHolder waiting) {
		EntityManagerHolder own = PersistenceContext.another(key, waiting);
		this.replaced.put(key, new Replaced(waiting, own));
		TransactionSynchronizationManager.unbindResource(key);
		TransactionSynchronizationManager.bindResource(key, own);
	}

	/**
	 * What is left of a call that another thread has ended, or whose context was in use
	 * at its end.
	 */
	private static void putBackLeft() {
		IsolatedContexts contexts = INNERMOST.get();
		while (contexts != null) {
			IsolatedContexts outer = contexts.outer;
			if (contexts.ended || !contexts.lock.isHeld()) {
				contexts.putBack(false);
			}
			contexts = outer;
		}
	}

	/**
	 * Close the contexts of a call, and put those back that have waited. One that a
	 * transaction or a scope of synchronizations goes on with stays until that is over.
	 * Does nothing on another thread, or if the call has none.
	 */
	public static void end(HeldLock lock) {
		IsolatedContexts contexts = of(lock);
		if (contexts == null) {
			return;
		}
		contexts.ended = true;
		contexts.putBack(false);
		if (!contexts.replaced.isEmpty() && TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					contexts.putBack(true);
				}

			});
		}
	}

	private static @Nullable IsolatedContexts of(HeldLock lock) {
		IsolatedContexts contexts = INNERMOST.get();
		while (contexts != null && contexts.lock != lock) {
			contexts = contexts.outer;
		}
		return contexts;
	}

	private void putBack(boolean scopeIsOver) {
		this.replaced.entrySet().removeIf((each) -> isPutBack(each.getKey(), each.getValue(), scopeIsOver));
		if (this.replaced.isEmpty()) {
			leave();
		}
	}

	private boolean isPutBack(Object key, Replaced replaced, boolean scopeIsOver) {
		IsolatedContexts inner = innerThatReplaces(key);
		if (inner != null) {
			inner.replaced.computeIfPresent(key, (same, its) -> new Replaced(replaced.waiting, its.own));
			close(replaced.own);
			return true;
		}
		if (TransactionSynchronizationManager.getResource(key) != replaced.own) {
			// Suspended, or closed by who has opened the one that waits
			boolean over = !replaced.own.getEntityManager().isOpen();
			if (over) {
				close(replaced.waiting);
			}
			return over;
		}
		if (replaced.own.isSynchronizedWithTransaction() && !scopeIsOver) {
			return false;
		}
		TransactionSynchronizationManager.unbindResource(key);
		close(replaced.own);
		TransactionSynchronizationManager.bindResource(key, replaced.waiting);
		return true;
	}

	private @Nullable IsolatedContexts innerThatReplaces(Object key) {
		IsolatedContexts nearest = null;
		for (IsolatedContexts contexts = INNERMOST.get(); contexts != null
				&& contexts != this; contexts = contexts.outer) {
			nearest = contexts.replaced.containsKey(key) ? contexts : nearest;
		}
		return nearest;
	}

	private void leave() {
		IsolatedContexts inner = null;
		IsolatedContexts contexts = INNERMOST.get();
		while (contexts != null && contexts != this) {
			inner = contexts;
			contexts = contexts.outer;
		}
		if (contexts == null) {
			return;
		}
		if (inner != null) {
			inner.outer = this.outer;
		}
		else if (this.outer != null) {
			INNERMOST.set(this.outer);
		}
		else {
			INNERMOST.remove();
		}
	}

	private static void close(EntityManagerHolder holder) {
		EntityManagerFactoryUtils.closeEntityManager(holder.getEntityManager());
	}

	/**
	 * The contexts of a call that hold changes, or those that wait for it and have been
	 * changed meanwhile.
	 */
	public static List<PersistenceContext> changed(HeldLock lock) {
		IsolatedContexts contexts = of(lock);
		if (contexts == null) {
			return List.of();
		}
		List<PersistenceContext> changed = new ArrayList<>();
		contexts.replaced.values().forEach((each) -> {
			if (PersistenceContext.of(each.own).hasChangesForLater()) {
				changed.add(PersistenceContext.of(each.own));
			}
			if (PersistenceContext.of(each.waiting).hasChanges()) {
				changed.add(PersistenceContext.of(each.waiting));
			}
		});
		return changed;
	}

	/**
	 * Whether a context that waits has been changed.
	 */
	public static boolean isAnyWaitingChanged() {
		return isAnyWaiting((holder) -> PersistenceContext.of(holder).hasChanges());
	}

	/**
	 * Whether an entity is one of a context that waits.
	 * @param entity the entity, or the key of one that is the same in the database
	 * @param factory the factory of the session that asks
	 */
	static boolean hasWaiting(Object entity, Object factory) {
		return isAnyWaiting(
				(holder) -> holder.getEntityManager().isOpen() && PersistenceContext.of(holder).holds(entity, factory));
	}

	private static boolean isAnyWaiting(Predicate<EntityManagerHolder> test) {
		for (IsolatedContexts contexts = INNERMOST.get(); contexts != null; contexts = contexts.outer) {
			for (Replaced each : contexts.replaced.values()) {
				if (test.test(each.waiting)) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * A context that waits, and the one that a call has in its place.
	 */
	private record Replaced(EntityManagerHolder waiting, EntityManagerHolder own) {
	}

}
