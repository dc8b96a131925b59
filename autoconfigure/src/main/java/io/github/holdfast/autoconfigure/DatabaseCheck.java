package io.github.holdfast.autoconfigure;

import java.sql.SQLException;

import javax.sql.DataSource;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.fence.RowLockProof;
import io.github.holdfast.sql.SeveralWriters;
import io.github.holdfast.store.Shortage;

/**
 * Fails the start when a database takes all statements but does not do what locks need:
 * as it only looks like the one that it claims to be, is reached through a proxy that
 * splits reads from writes, or has several servers that take writes.
 */
final class DatabaseCheck {

	private static final Logger logger = LoggerFactory.getLogger(DatabaseCheck.class);

	private static final String SKIPPED = "Whether the database locks rows of '{}' is not proven at the start, as that takes "
			+ "two connections and the pool has {}";

	/** Of most pools. */
	private static final int CONNECTIONS = 10;

	private final LockDataSource dataSource;

	private final LockProperties.Database properties;

	private final ObjectProvider<DataSourcePoolMetadataProvider> pools;

	DatabaseCheck(LockDataSource dataSource, LockProperties.Database properties,
			ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		this.dataSource = dataSource;
		this.properties = properties;
		this.pools = pools;
	}

	/**
	 * Check the database of a table.
	 * @param table the table
	 * @param fence locks its rows
	 * @throws SQLException if the database fails
	 * @throws LockConfigurationException if locks would not hold
	 */
	void check(String table, RowFence fence) throws SQLException {
		if (!this.properties.singleWriter()) {
			checkWriters();
		}
		if (this.properties.checkRowLocks()) {
			checkRowLocks(table, fence);
		}
	}

	private void checkWriters() throws SQLException {
		String several = SeveralWriters.of(this.dataSource);
		if (several != null) {
			throw new LockConfigurationException(
					"The database of the locks is " + several
							+ ". Each of its servers takes writes and has row locks of its own, so that two holders "
							+ "of a lock could commit on two of them.",
					"Let all nodes of the application write to the same server, and say so by "
							+ "'holdfast.database.single-writer: true'. See docs/jdbc.md.");
		}
	}

	private void checkRowLocks(String table, RowFence fence) throws SQLException {
		if (connections(this.dataSource.get(), this.pools) < 2) {
			logger.info(SKIPPED, table, "only one");
			return;
		}
		try {
			new RowLockProof(this.dataSource, fence).run();
		}
		catch (SQLException ex) {
			if (!Shortage.isIn(ex)) {
				throw ex;
			}
			logger.info(SKIPPED, table, "none left");
		}
	}

	/**
	 * How many connections a pool has, or most have if it has no limit or does not tell.
	 */
	static int connections(DataSource dataSource, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(pools.orderedStream().toList())
			.getDataSourcePoolMetadata(dataSource);
		Integer max = (pool != null) ? pool.getMax() : null;
		return (max != null && max >= 0) ? max : CONNECTIONS;
	}

}
