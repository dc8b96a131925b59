package io.github.holdfast.transaction;

import java.lang.reflect.Method;
import java.util.Map;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds out which database a transaction manager works on.
 */
final class ManagedDataSource {

	private static final String ENTITY_MANAGER_FACTORY = "jakarta.persistence.EntityManagerFactory";

	/** {@code null} without JPA. */
	private static final @Nullable Class<?> FACTORY = ClassUtils
		.isPresent(ENTITY_MANAGER_FACTORY, ManagedDataSource.class.getClassLoader())
				? ClassUtils.resolveClassName(ENTITY_MANAGER_FACTORY, ManagedDataSource.class.getClassLoader()) : null;

	private ManagedDataSource() {
	}

	/**
	 * The DataSource of a transaction manager: a JDBC one has it as its resource, a JPA
	 * one as a property.
	 * @return the DataSource, or {@code null} if there is none or it is not known
	 */
	static @Nullable DataSource of(TransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		Method getter = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
		return (getter != null && ReflectionUtils.invokeMethod(getter, manager) instanceof DataSource dataSource)
				? dataSource : null;
	}

	/**
	 * Whether a manager runs transactions on a SQL database: those with a DataSource, JPA
	 * and JTA ones, and those of which nothing is known but that they are not the one
	 * without any resource that Spring Batch has for its own steps.
	 */
	static boolean isSql(TransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resources
				&& isEntityManagerFactory(resources.getResourceFactory())) {
			return true;
		}
		return of(manager) != null
				|| !(manager instanceof ResourceTransactionManager || isWithoutResource(manager.getClass()));
	}

	static boolean isWithoutResource(Class<?> type) {
		return type.getSimpleName().equals("ResourcelessTransactionManager")
				|| (type.getSuperclass() != null && isWithoutResource(type.getSuperclass()));
	}

	static boolean isEntityManagerFactory(Object factory) {
		return FACTORY != null && FACTORY.isInstance(factory);
	}

	/**
	 * Whether the connection of a transaction is fetched for its first statement, and not
	 * when it begins: Hibernate does so if it need not switch auto-commit off.
	 */
	static boolean isFetchedLate(TransactionManager manager) {
		if (FACTORY != null && manager instanceof ResourceTransactionManager resources
				&& FACTORY.isInstance(resources.getResourceFactory())) {
			Object properties = ReflectionUtils.invokeMethod(ClassUtils.getMethod(FACTORY, "getProperties"),
					resources.getResourceFactory());
			return properties instanceof Map<?, ?> map && Boolean
				.parseBoolean(String.valueOf(map.get("hibernate.connection.provider_disables_autocommit")));
		}
		return false;
	}

}
