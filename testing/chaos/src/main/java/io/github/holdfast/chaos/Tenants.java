package io.github.holdfast.chaos;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.Assert;

/**
 * Two tenants, each with a pool of its own, behind one transaction manager: its
 * connection is fetched for the first statement, when the method has said for whom it
 * works.
 */
final class Tenants implements AutoCloseable {

	static final String MANAGER = "tenantManager";

	static final int NUMBER = 2;

	private static final int POOL_SIZE = 3;

	private static final int NOBODY = -1;

	/** Stays on the thread, so that a call begins with the tenant of the one before. */
	private final ThreadLocal<Integer> chosen = ThreadLocal.withInitial(() -> 0);

	private final ThreadLocal<Integer> reached = ThreadLocal.withInitial(() -> NOBODY);

	private final List<HikariDataSource> pools;

	private final DataSource dataSource;

	private final Accounts accounts;

	Tenants(DataSource like) throws SQLException {
		HikariDataSource pool = like.unwrap(HikariDataSource.class);
		this.pools = IntStream.range(0, NUMBER).mapToObj((tenant) -> like(pool, tenant)).toList();
		this.dataSource = lazy(pool.isAutoCommit());
		this.accounts = new Accounts(new JdbcTemplate(this.dataSource));
	}

	/**
	 * A proxy that need not ask a connection how it comes, also if the database is down
	 * when the application starts: else it fetches the first one when a transaction
	 * begins.
	 */
	private DataSource lazy(boolean autoCommit) {
		LazyConnectionDataSourceProxy proxy = new LazyConnectionDataSourceProxy(new Router());
		proxy.setDefaultAutoCommit(autoCommit);
		return proxy;
	}

	private static HikariDataSource like(HikariDataSource pool, int tenant) {
		HikariConfig config = new HikariConfig();
		pool.copyStateTo(config);
		config.setPoolName("tenant-" + tenant);
		config.setMaximumPoolSize(POOL_SIZE);
		return new HikariDataSource(config);
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	/**
	 * Read, think, write: for one tenant, in the transaction that runs.
	 */
	void sell(String key, int tenant, CallRecorder call) {
		this.reached.set(NOBODY);
		this.chosen.set(tenant);
		long version = this.accounts.read(key);
		Assert.state(this.reached.get() == tenant, "The connection was fetched before the tenant was known");
		call.think();
		Touch touch = call.sell(key, key, version);
		this.accounts.write(key, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
	}

	/**
	 * How many connections are in use.
	 */
	int active() {
		return this.pools.stream().mapToInt((pool) -> pool.getHikariPoolMXBean().getActiveConnections()).sum();
	}

	@Override
	public void close() {
		this.pools.forEach(HikariDataSource::close);
	}

	private final class Router extends AbstractRoutingDataSource {

		Router() {
			setTargetDataSources(Map.of(0, Tenants.this.pools.get(0), 1, Tenants.this.pools.get(1)));
			afterPropertiesSet();
		}

		@Override
		protected Object determineCurrentLookupKey() {
			int tenant = Tenants.this.chosen.get();
			Tenants.this.reached.set(tenant);
			return tenant;
		}

	}

}
