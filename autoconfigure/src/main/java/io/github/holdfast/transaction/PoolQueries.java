package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ClassUtils;

import io.github.holdfast.core.LockConfigurationException;

/**
 * What a pool asks on its connections when it looks after them. In a pool without
 * auto-commit, each such question begins a transaction, and what the application reads in
 * it may be as old as the question, older than the lock. Only the pool can end it before
 * anybody else works on the connection.
 */
final class PoolQueries {

	private static final Logger logger = LoggerFactory.getLogger(PoolQueries.class);

	private static final @Nullable Class<?> HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			PoolQueries.class.getClassLoader()) ? HikariDataSource.class : null;

	private PoolQueries() {
	}

	/**
	 * Let a pool end the transactions of its questions, if it can and has not begun to
	 * work.
	 * @return whether its connections come without a transaction
	 */
	static boolean isolate(DataSource dataSource) {
		try {
			if (HIKARI == null || !dataSource.isWrapperFor(HIKARI)) {
				return false;
			}
			HikariDataSource pool = dataSource.unwrap(HikariDataSource.class);
			if (!pool.isAutoCommit() && !pool.isIsolateInternalQueries()) {
				pool.setIsolateInternalQueries(true);
				logger.debug("The pool '{}' ends the transactions of its own queries", pool.getPoolName());
			}
			return true;
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A pool does not let its own queries be isolated", ex);
			return false;
		}
	}

	/**
	 * Refuse a pool whose connections may come with an open transaction.
	 * @param manager the name of the transaction manager that works on it
	 * @throws LockConfigurationException if they may
	 */
	static void check(DataSource dataSource, String manager) {
		if (isolate(dataSource) || ConnectionPools.isRouter(dataSource)) {
			return;
		}
		try (Connection connection = dataSource.getConnection()) {
			if (connection.getAutoCommit()) {
				return;
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug(
					"A database that is down, or a router without a tenant, does not tell how its connections come",
					ex);
			return;
		}
		throw new LockConfigurationException(
				"The pool of the transaction manager '" + manager + "' (" + dataSource.getClass().getName()
						+ ") hands out connections without auto-commit, and they may come with "
						+ "an open transaction, in which the locked method would read data from before the lock.",
				"Let the pool hand them out in auto-commit mode, as is its default; Spring switches it off for each "
						+ "transaction. Or use HikariCP with 'isolate-internal-queries' (setIsolateInternalQueries(true)).");
	}

}
