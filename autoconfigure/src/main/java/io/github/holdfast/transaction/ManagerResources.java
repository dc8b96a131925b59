package io.github.holdfast.transaction;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What a transaction manager binds to a thread, and takes away from it while a
 * transaction is suspended.
 */
final class ManagerResources {

	private final TransactionManager manager;

	private final Set<Object> keys = new LinkedHashSet<>();

	private ManagerResources(TransactionManager manager) {
		this.manager = manager;
		if (manager instanceof ResourceTransactionManager resources) {
			this.keys.add(resources.getResourceFactory());
		}
		DataSource dataSource = ManagedDataSource.of(manager);
		if (dataSource != null) {
			this.keys.add(dataSource);
		}
	}

	static ManagerResources of(TransactionManager manager) {
		return new ManagerResources(GuardedManager.withoutProxy(manager));
	}

	/**
	 * What is bound now, by its keys.
	 */
	Map<Object, Object> bound() {
		Map<Object, Object> bound = Map.of();
		for (Object key : this.keys) {
			Object resource = TransactionSynchronizationManager.getResource(key);
			if (resource != null) {
				bound = bound.isEmpty() ? new HashMap<>(2) : bound;
				bound.put(key, resource);
			}
		}
		return bound;
	}

	/**
	 * Whether a transaction of a SQL database is bound to this thread that the manager
	 * does not suspend with its own one.
	 */
	boolean isAnyBoundBeside() {
		return TransactionSynchronizationManager.getResourceMap()
			.entrySet()
			.stream()
			.anyMatch((bound) -> !this.keys.contains(bound.getKey()) && isSql(bound));
	}

	private static boolean isSql(Map.Entry<Object, Object> bound) {
		Object key = bound.getKey();
		return (key instanceof DataSource || ManagedDataSource.isEntityManagerFactory(key))
				&& bound.getValue() instanceof ResourceHolderSupport holder && holder.isSynchronizedWithTransaction();
	}

	/**
	 * Whether the transaction of this thread is one without any resource, whose manager
	 * need not be a bean: it binds itself.
	 */
	static boolean isNothingBound() {
		Map<Object, Object> bound = TransactionSynchronizationManager.getResourceMap();
		return bound.keySet().stream().anyMatch((key) -> ManagedDataSource.isWithoutResource(key.getClass()))
				&& bound.entrySet().stream().noneMatch(ManagerResources::isSql);
	}

	/**
	 * Whether a manager that suspends its transaction takes these away.
	 * @param other the manager, or {@code null} for the one of these
	 */
	boolean areSuspendedBy(@Nullable TransactionManager other) {
		if (other == null) {
			return true;
		}
		TransactionManager manager = GuardedManager.withoutProxy(other);
		return manager == this.manager || (!this.keys.isEmpty() && of(manager).keys.containsAll(this.keys));
	}

}
