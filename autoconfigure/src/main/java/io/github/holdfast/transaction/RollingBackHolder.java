package io.github.holdfast.transaction;

import java.sql.SQLException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHandle;
import org.springframework.jdbc.datasource.ConnectionHolder;

/**
 * Gives out a connection, and rolls back what was done with it when it is given back.
 */
final class RollingBackHolder extends ConnectionHolder {

	private static final Logger logger = LoggerFactory.getLogger(RollingBackHolder.class);

	private final ConnectionHandle handle;

	RollingBackHolder(ConnectionHandle handle) {
		super(handle);
		this.handle = handle;
		setTransactionActive(true);
	}

	@Override
	public void released() {
		super.released();
		if (!isOpen()) {
			try {
				this.handle.getConnection().rollback();
			}
			catch (SQLException ex) {
				logger.debug("A broken connection is rolled back by its database", ex);
			}
		}
	}

}
