package io.github.holdfast.autoconfigure;

import java.sql.SQLException;
import java.util.Locale;

import javax.sql.DataSource;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.github.holdfast.autoconfigure.JdbcSessionConfiguration.PoolSize;
import io.github.holdfast.jdbc.JdbcSessionLockBackend;
import io.github.holdfast.support.LockConfigurationException;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;

/**
 * Fails the start when sessions of the database cannot hold locks, or when something is
 * asked for that is not possible then.
 */
class JdbcSessionCheck implements SmartInitializingSingleton {

	private static final String OTHERWISE = ", or set 'holdfast.jdbc.mode' to 'table'.";

	private final LockDataSource dataSource;

	private final LockProperties properties;

	private final JdbcLockSessionProperties session;

	private final PoolSize poolSize;

	JdbcSessionCheck(LockDataSource dataSource, LockProperties properties, JdbcLockSessionProperties session,
			PoolSize poolSize) {
		this.dataSource = dataSource;
		this.properties = properties;
		this.session = session;
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
		Integer poolSize = this.poolSize.of(dataSource);
		int maxSessions = this.session.maxSessions(poolSize);
		new JdbcSessionLockBackend(() -> dataSource, () -> maxSessions)
			.checkSessions((poolSize != null) ? poolSize : 2);
	}

}
