package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.sql.OwnConnections;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Proves that transactions run on the database of the fence, whatever pools and proxies
 * are in between: a lock that was just taken must be found through each of them, with
 * exactly its epoch and owner. Nothing is done where there is only one pool.
 *
 * <p>
 * All nodes take the same lock, one after the other, so that one row remains.
 */
final class DatabaseProof {

	private static final Logger logger = LoggerFactory.getLogger(DatabaseProof.class);

	private static final String KEY = "holdfast:same-database";

	/** Longer than it takes a pool to say that its database is unreachable. */
	private static final Duration LEASE_TIME = Duration.ofMinutes(1);

	/** Until the lease of a node that died in its proof has run out. */
	private static final Duration WAIT_TIME = LEASE_TIME.plusSeconds(10);

	private final Supplier<@Nullable LockBackend> backend;

	DatabaseProof(Supplier<@Nullable LockBackend> backend) {
		this.backend = backend;
	}

	/**
	 * Try to prove it.
	 * @param fence the fence
	 * @param managed the DataSource of a transaction manager
	 * @return what speaks against it, or {@code null} if it is proven
	 */
	@Nullable String objection(Fence fence, DataSource managed) {
		ConnectionTargets targets = new ConnectionTargets();
		targets.add(managed, "its DataSource");
		targets.add(fence.dataSource(), "the DataSource of the locks");
		if (targets.isOnePool()) {
			return null;
		}
		LockBackend backend = (fence instanceof RowFence) ? this.backend.get() : null;
		if (backend == null) {
			return "its DataSource is not that of the locks";
		}
		LockLease lock = takeLock(backend);
		if (lock == null) {
			return "the lock '" + KEY + "', which is taken to prove this, was busy for " + WAIT_TIME.toSeconds()
					+ " seconds";
		}
		try {
			return objection((RowFence) fence, targets.descriptions(), lock);
		}
		finally {
			release(lock);
		}
	}

	private static @Nullable LockLease takeLock(LockBackend backend) {
		try {
			return backend.acquire(new LockRequest(KEY, "same-database", LockRequest.Mode.EXCLUSIVE, false, WAIT_TIME,
					LEASE_TIME, UUID.randomUUID().toString(), "start of process " + ProcessHandle.current().pid(), 0));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while the database of a transaction manager was looked at",
					ex);
		}
	}

	private static void release(LockLease lock) {
		try {
			lock.release().exceptionally((ex) -> {
				logger.debug("The lock of the proof runs out by itself", ex);
				return false;
			});
		}
		catch (LockBackendException ex) {
			logger.debug("The lock of the proof runs out by itself", ex);
		}
	}

	private static @Nullable String objection(RowFence fence, Map<DataSource, String> targets, LockLease lock) {
		for (Map.Entry<DataSource, String> target : targets.entrySet()) {
			String objection = objection(fence, target.getKey(), target.getValue(), lock);
			if (objection != null) {
				return objection;
			}
		}
		return null;
	}

	private static @Nullable String objection(RowFence fence, DataSource target, String description, LockLease lock) {
		if (target instanceof AbstractRoutingDataSource) {
			return description + " (" + target.getClass().getName()
					+ ") chooses databases by code of its own, so that they cannot be looked at";
		}
		String place;
		try (Connection connection = OwnConnections.open(target)) {
			place = whereMissing(fence, connection, lock);
		}
		catch (SQLException ex) {
			return description + " cannot be reached: " + firstLine(ex);
		}
		return (place == null) ? null : "a lock that was just taken in " + DatabaseName.of(fence.dataSource())
				+ " is not found through " + description + " in " + place;
	}

	private static @Nullable String whereMissing(RowFence fence, Connection connection, LockLease lock)
			throws SQLException {
		String name = DatabaseName.of(connection);
		try {
			return fence.sees(connection, lock) ? null : name;
		}
		catch (LockConfigurationException ex) {
			return name + " (" + ex.description() + ")";
		}
		catch (SQLException ex) {
			return name + " (" + firstLine(ex) + ")";
		}
		finally {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
		}
	}

	/**
	 * The next ones repeat the statement.
	 */
	private static String firstLine(SQLException ex) {
		return String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
	}

}
