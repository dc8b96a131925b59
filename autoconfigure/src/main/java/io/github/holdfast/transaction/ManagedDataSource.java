package io.github.holdfast.transaction;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.holdfast.LockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The {@code DataSource} of a transaction manager, and the pool behind it.
 */
final class ManagedDataSource {

	/** Classes and packages of pools, each of which connects to one database. */
	private static final List<String> POOLS = List.of("com.zaxxer.hikari.", "com.alibaba.druid.pool.",
			"org.apache.commons.dbcp2.", "org.apache.tomcat.jdbc.pool.", "org.apache.tomcat.dbcp.dbcp2.",
			"com.mchange.v2.c3p0.", "io.agroal.", "oracle.ucp.", "org.vibur.dbcp.",
			"org.springframework.jdbc.datasource.SimpleDriverDataSource",
			"org.springframework.jdbc.datasource.DriverManagerDataSource",
			"org.springframework.jdbc.datasource.SingleConnectionDataSource",
			"org.springframework.jdbc.datasource.embedded.", "org.h2.jdbcx.", "org.postgresql.ds.", "org.mariadb.jdbc.",
			"com.mysql.cj.jdbc.");

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			ManagedDataSource.class.getClassLoader());

	private ManagedDataSource() {
	}

	/**
	 * The {@code DataSource} under which a manager binds its connections.
	 * @return {@code null} if it has none
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
	 * The pool behind the proxies of Spring.
	 */
	static DataSource pool(DataSource dataSource) {
		Object target = AopProxyUtils.getSingletonTarget(dataSource);
		if (target == null && dataSource instanceof DelegatingDataSource proxy
				&& proxy.getClass().getName().startsWith("org.springframework.")) {
			target = proxy.getTargetDataSource();
		}
		return (target instanceof DataSource next) ? pool(next) : dataSource;
	}

	/**
	 * Whether a pool is known to connect to one database only. Anything else may be a
	 * router.
	 */
	static boolean isKnown(DataSource pool) {
		for (Class<?> type = pool.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
			if (POOLS.stream().anyMatch(type.getName()::startsWith)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether connections of a pool have no auto-commit even without a transaction.
	 */
	static boolean isWithoutAutoCommit(Object resourceFactory) {
		return HIKARI && resourceFactory instanceof DataSource dataSource
				&& pool(dataSource) instanceof HikariDataSource hikari && !hikari.isAutoCommit();
	}

	/**
	 * Makes sure that transactions begin with the first statement of the application, not
	 * with a query of the pool.
	 */
	static void isolate(DataSource dataSource) {
		if (HIKARI && pool(dataSource) instanceof HikariDataSource hikari && !hikari.isAutoCommit()
				&& !hikari.isIsolateInternalQueries() && !hikari.isRunning()) {
			hikari.setIsolateInternalQueries(true);
		}
	}

	/**
	 * Refuses pools that hand out connections without auto-commit, in which a query of
	 * the pool may already have begun a transaction.
	 */
	static void checkAutoCommit(DataSource dataSource, String manager) {
		if (HIKARI && pool(dataSource) instanceof HikariDataSource hikari
				&& (hikari.isAutoCommit() || hikari.isIsolateInternalQueries())) {
			return;
		}
		try (Connection connection = dataSource.getConnection()) {
			if (connection.getAutoCommit()) {
				return;
			}
		}
		catch (SQLException | RuntimeException ex) {
			// A database that is down is reported elsewhere
			return;
		}
		throw new LockConfigurationException(
				"The pool of the transaction manager '" + manager + "' (" + dataSource.getClass().getName()
						+ ") hands out connections without auto-commit. They may come with an open transaction, in "
						+ "which a locked method would read data from before the lock.",
				"Let the pool hand them out with auto-commit; Spring switches it off for each transaction. "
						+ "Or use HikariCP with isolate-internal-queries.");
	}

}
