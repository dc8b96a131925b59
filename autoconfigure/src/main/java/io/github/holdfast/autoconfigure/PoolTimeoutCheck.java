package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Warns of a pool that lets a renewal wait for a connection for longer than the lease. A
 * lease is renewed at a third of its time, so that two more attempts are left if one
 * fails; so a third of the lease is the time-out to recommend. The defaults, with which
 * both times are the same, are not warned of.
 */
class PoolTimeoutCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(PoolTimeoutCheck.class);

	private static final int ATTEMPTS = 3;

	private final Supplier<DataSource> dataSource;

	private final LockProperties properties;

	PoolTimeoutCheck(Supplier<DataSource> dataSource, LockProperties properties) {
		this.dataSource = dataSource;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		LockBackendType chosen = this.properties.getBackend();
		if (chosen != null && chosen != LockBackendType.JDBC) {
			return;
		}
		HikariConfigMXBean pool = DataSourceUnwrapper.unwrap(this.dataSource.get(), HikariConfigMXBean.class,
				HikariDataSource.class);
		Duration leaseTime = this.properties.getLeaseTime();
		if (pool != null) {
			warnOfOneConnection(pool);
		}
		if (pool != null && leaseTime.toMillis() < pool.getConnectionTimeout()) {
			logger.warn("'holdfast.lease-time' ({}) is less than the connection time-out of the pool '{}' ({} ms): "
					+ "while the pool is exhausted, a renewal may wait for a connection until the lease has run "
					+ "out, and the lock is lost. Set 'spring.datasource.hikari.connection-timeout' to {} or less "
					+ "(a number of milliseconds), or the lease time to {} or more", text(leaseTime),
					pool.getPoolName(), pool.getConnectionTimeout(), leaseTime.toMillis() / ATTEMPTS,
					text(Duration.ofMillis(ATTEMPTS * pool.getConnectionTimeout())));
		}
	}

	/**
	 * A second connection is never there while a method has the only one.
	 */
	private static void warnOfOneConnection(HikariConfigMXBean pool) {
		if (pool.getMaximumPoolSize() == 1) {
			logger.warn("The pool '{}' has one connection: while a transaction has it, its lease is not renewed, and a "
					+ "method with REQUIRES_NEW that it calls waits for another one in vain. Set "
					+ "'spring.datasource.hikari.maximum-pool-size' to 2 or more", pool.getPoolName());
		}
	}

	private static String text(Duration time) {
		return DurationFormatterUtils.print(time, DurationFormat.Style.COMPOSITE);
	}

}
