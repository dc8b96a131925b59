package io.github.holdfast.transaction;

import java.lang.reflect.Field;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ReflectionUtils;

/**
 * The pools that connections may come from: those behind proxies that only pass
 * connections on, and those behind each key of a routing DataSource. A router that
 * chooses by code of its own is a target itself.
 */
final class ConnectionTargets {

	private static final Set<Class<?>> TRANSPARENT = Set.of(DelegatingDataSource.class,
			TransactionAwareDataSourceProxy.class, LazyConnectionDataSourceProxy.class);

	private static final @Nullable Field READ_ONLY = ReflectionUtils.findField(LazyConnectionDataSourceProxy.class,
			"readOnlyDataSource", DataSource.class);

	private final Map<DataSource, String> descriptions = new LinkedHashMap<>();

	/**
	 * Add the targets of a DataSource.
	 * @param dataSource the DataSource
	 * @param description what it is, for messages
	 */
	void add(DataSource dataSource, String description) {
		if (AopProxyUtils.getSingletonTarget(dataSource) instanceof DataSource target) {
			add(target, description);
		}
		else if (TRANSPARENT.contains(dataSource.getClass())) {
			addProxy((DelegatingDataSource) dataSource, description);
		}
		else {
			AbstractRoutingDataSource router = router(dataSource);
			if (router == null || choosesByItself(router)) {
				this.descriptions.putIfAbsent((router != null) ? router : dataSource, description);
			}
			else {
				addRouter(router, description);
			}
		}
	}

	private void addProxy(DelegatingDataSource proxy, String description) {
		DataSource target = proxy.getTargetDataSource();
		if (target != null) {
			add(target, description);
		}
		DataSource readOnly = readOnlyTarget(proxy);
		if (readOnly != null) {
			add(readOnly, "the read-only target of " + description);
		}
	}

	private void addRouter(AbstractRoutingDataSource router, String description) {
		router.getResolvedDataSources()
			.forEach((key, target) -> add(target, "the target '" + key + "' of " + description));
		DataSource defaultTarget = router.getResolvedDefaultDataSource();
		if (defaultTarget != null) {
			add(defaultTarget, "the default target of " + description);
		}
	}

	/**
	 * What was found.
	 * @return the targets with their descriptions, in the order in which they were added
	 */
	Map<DataSource, String> descriptions() {
		return this.descriptions;
	}

	/**
	 * Whether all connections come from the same pool.
	 */
	boolean isOnePool() {
		return this.descriptions.size() == 1
				&& !(this.descriptions.keySet().iterator().next() instanceof AbstractRoutingDataSource);
	}

	private static @Nullable AbstractRoutingDataSource router(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class)
					? dataSource.unwrap(AbstractRoutingDataSource.class) : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	private static boolean choosesByItself(AbstractRoutingDataSource router) {
		return overrides(router, "determineTargetDataSource") || overrides(router, "getConnection");
	}

	private static boolean overrides(AbstractRoutingDataSource router, String name) {
		var method = ReflectionUtils.findMethod(router.getClass(), name);
		return method == null || method.getDeclaringClass() != AbstractRoutingDataSource.class;
	}

	/**
	 * Spring has no getter for it. If it cannot be read, the fence still rejects commits
	 * on a database that does not have the lock.
	 */
	private static @Nullable DataSource readOnlyTarget(DelegatingDataSource proxy) {
		if (READ_ONLY == null || !READ_ONLY.getDeclaringClass().isInstance(proxy)) {
			return null;
		}
		ReflectionUtils.makeAccessible(READ_ONLY);
		return (DataSource) ReflectionUtils.getField(READ_ONLY, proxy);
	}

}
