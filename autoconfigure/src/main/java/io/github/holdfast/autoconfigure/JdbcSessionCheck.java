package io.github.holdfast.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.github.holdfast.autoconfigure.JdbcSessionConfiguration.PoolSize;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.sql.OwnConnections;
import io.github.holdfast.store.session.JdbcSessionLockBackend;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;

/**
 * Fails the start when sessions of the database cannot hold locks, or when something is
 * asked for that is not possible then.
 */
class JdbcSessionCheck implements SmartInitializingSingleton {

	private static final String OTHERWISE = ", or set 'holdfast.jdbc.mode' to 'table'.";

	/**
	 * URLs of drivers that may go on with another session: by their kind, with several
	 * servers of MySQL, or by a property.
	 */
	private static final Pattern REPLACED_SESSIONS = Pattern.compile("""
			jdbc:aws-wrapper:.*
			|jdbc:(mariadb|mysql|postgresql):[a-z-]+:.*
			|jdbc:mysql\\+srv:.*
			|jdbc:mysql://(\\([^)]*\\)|[^/?,(])*,.*
			|jdbc:.*\\b(autoReconnect(ForPools)?|transactionReplay)\\s*=\\s*(true|yes|1)\\b.*
			""", Pattern.CASE_INSENSITIVE | Pattern.COMMENTS | Pattern.DOTALL);

	private final LockDataSource dataSource;

	private final LockProperties properties;

	private final LockProperties.Jdbc jdbc;

	private final PoolSize poolSize;

	JdbcSessionCheck(LockDataSource dataSource, LockProperties properties, LockProperties.Jdbc jdbc,
			PoolSize poolSize) {
		this.dataSource = dataSource;
		this.properties = properties;
		this.jdbc = jdbc;
		this.poolSize = poolSize;
	}

	@Override
	public void afterSingletonsInstantiated() {
		checkProperties();
		try {
			checkDatabase(this.dataSource.get());
		}
		catch (SQLException ex) {
			throw new LockConfigurationException(
					"The database of the lock backend 'jdbc' could not be asked about its sessions: " + ex.getMessage(),
					"Check 'spring.datasource.url' and the credentials, and that the database is running.", ex);
		}
	}

	private void checkProperties() {
		CommitGuardLevel level = this.properties.getCommitGuard();
		if (level != null && level != CommitGuardLevel.FENCE) {
			throw new LockConfigurationException("'holdfast.commit-guard' is '" + level.name().toLowerCase(Locale.ROOT)
					+ "', but with 'holdfast.jdbc.mode=session' each commit runs in the session of its locks, "
					+ "which is never less than 'fence'.", "Remove 'holdfast.commit-guard'" + OTHERWISE);
		}
		if (this.properties.getOnActiveTransaction() != OnActiveTransaction.REJECT) {
			throw new LockConfigurationException(
					"'holdfast.on-active-transaction' is 'release-after-completion', but with "
							+ "'holdfast.jdbc.mode=session' a lock cannot join a transaction that is already running "
							+ "on another connection.",
					"Remove 'holdfast.on-active-transaction'" + OTHERWISE);
		}
	}

	private void checkDatabase(DataSource dataSource) throws SQLException {
		if (dataSource.isWrapperFor(AbstractRoutingDataSource.class)) {
			throw new LockConfigurationException(
					"The DataSource of the locks routes to several databases ("
							+ dataSource.unwrap(AbstractRoutingDataSource.class).getClass().getName()
							+ "), so that a lock and the transaction under it could be in different ones.",
					"Mark a DataSource of a single database with @HoldfastDataSource" + OTHERWISE);
		}
		checkDriver(dataSource);
		Integer poolSize = this.poolSize.of(dataSource);
		int maxSessions = this.jdbc.maxSessions(poolSize);
		new JdbcSessionLockBackend(() -> dataSource, () -> maxSessions)
			.checkSessions((poolSize != null) ? poolSize : 2);
	}

	private static void checkDriver(DataSource dataSource) throws SQLException {
		try (Connection connection = OwnConnections.open(dataSource)) {
			if (mayReplaceSession(connection)) {
				throw new LockConfigurationException(
						"The JDBC driver may replace the database session of a connection without a word, "
								+ "so that a transaction could commit after its lock is lost.",
						"Use a URL of a single server without 'autoReconnect' and 'transactionReplay', "
								+ "such as 'jdbc:mariadb://host/database'" + OTHERWISE);
			}
		}
	}

	private static boolean mayReplaceSession(Connection connection) throws SQLException {
		String url = connection.getMetaData().getURL();
		return (url != null && REPLACED_SESSIONS.matcher(url).matches()) || isOfAmazon(connection)
				|| isOfAmazon(connection.unwrap(Connection.class));
	}

	/**
	 * Amazon's driver reports the URL of the one behind it.
	 */
	private static boolean isOfAmazon(Connection connection) {
		return connection.getClass().getName().startsWith("software.amazon.jdbc.");
	}

}
