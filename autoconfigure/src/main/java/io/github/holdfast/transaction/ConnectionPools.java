package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.util.Set;

import javax.sql.DataSource;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Tells whether connections come from the same pool, whatever proxies that only pass them
 * on are around it.
 */
final class ConnectionPools {

	private static final Set<Class<?>> TRANSPARENT = Set.of(DelegatingDataSource.class,
			TransactionAwareDataSourceProxy.class, LazyConnectionDataSourceProxy.class);

	private ConnectionPools() {
	}

	static boolean areSame(DataSource one, DataSource other) {
		return pool(one) == pool(other);
	}

	/**
	 * Whether a DataSource chooses among several pools.
	 */
	static boolean isRouter(DataSource dataSource) {
		return isBehind(AbstractRoutingDataSource.class, dataSource);
	}

	/**
	 * Whether a connection is fetched when it is used first.
	 */
	static boolean isLazy(DataSource dataSource) {
		return isBehind(LazyConnectionDataSourceProxy.class, dataSource);
	}

	/**
	 * Whether the connection depends on who asks for it, as far as is known: a router
	 * chooses one, and a proxy of the application may prepare it.
	 */
	static boolean dependsOnCaller(DataSource dataSource) {
		return isRouter(dataSource) || pool(dataSource) instanceof DelegatingDataSource;
	}

	private static boolean isBehind(Class<?> type, DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(type);
		}
		catch (SQLException | RuntimeException ex) {
			return false;
		}
	}

	private static DataSource pool(DataSource dataSource) {
		Object target = AopProxyUtils.getSingletonTarget(dataSource);
		if (target == null && TRANSPARENT.contains(dataSource.getClass())) {
			target = ((DelegatingDataSource) dataSource).getTargetDataSource();
		}
		return (target instanceof DataSource next) ? pool(next) : dataSource;
	}

}
