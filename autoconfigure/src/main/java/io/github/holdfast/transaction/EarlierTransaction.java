package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.util.ClassUtils;

import io.github.holdfast.sql.OpenTransaction;

/**
 * What is open on the connection that a pool without auto-commit hands out: the pool has
 * looked after it while it was idle, or somebody has prepared it, with a statement. What
 * is read in this transaction may be as old as that statement.
 */
final class EarlierTransaction {

	private static final @Nullable Class<?> HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			EarlierTransaction.class.getClassLoader()) ? HikariDataSource.class : null;

	private EarlierTransaction() {
	}

	/**
	 * Whether the connections of a pool are known to come in auto-commit mode.
	 */
	static boolean isExcludedBy(DataSource pool) throws SQLException {
		return HIKARI != null && pool.isWrapperFor(HIKARI) && pool.unwrap(HikariDataSource.class).isAutoCommit();
	}

	/**
	 * End it.
	 * @param bound the connection of the transaction, which may not have been fetched yet
	 */
	static void end(Connection bound) throws SQLException {
		Connection connection = DataSourceUtils.getTargetConnection(bound);
		if (!connection.getAutoCommit()) {
			OpenTransaction.endOn(connection);
		}
	}

}
