package io.github.holdfast.transaction;

import java.sql.Connection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.fence.FenceClaims;
import io.github.holdfast.sql.OpenTransaction;

/**
 * The leases that a running transaction has written into the fence table, where it keeps
 * their rows locked. It lasts as long as the transaction does in the database, which may
 * have ended it: for being idle, or as the victim of a deadlock.
 */
final class Claim {

	private final HeldLock lock;

	private final List<LockLease> leases;

	private final FenceClaims claims;

	private final Connection connection;

	private final @Nullable Object transaction;

	Claim(HeldLock lock, List<LockLease> leases, FenceClaims claims, Connection connection) {
		this.lock = lock;
		this.leases = leases;
		this.claims = claims;
		this.connection = connection;
		this.transaction = OpenTransaction.marked(connection);
	}

	boolean covers(LockLease lease) {
		return this.leases.contains(lease);
	}

	/**
	 * Whether the transaction that has made it is still the one that is open, as far as
	 * the driver tells. Not if the method has ended that by itself, or if the connection
	 * goes on with another session, as drivers with failover do.
	 */
	boolean isOpen() {
		return this.transaction != null && this.transaction.equals(OpenTransaction.marked(this.connection));
	}

	/**
	 * Write the leases once more, after a rollback.
	 */
	boolean isMadeAgain(Connection connection) {
		return this.claims.claim(connection, this.leases, false);
	}

	/**
	 * Note that something else is done under the lock than what this transaction does.
	 */
	void notAlone() {
		this.lock.commits().bodyNotAlone();
	}

	/**
	 * Let the commit leave what is claimed to the callbacks that come after it. Later
	 * calls do not claim.
	 */
	void keep() {
		notAlone();
		this.claims.keep(this.connection, this.leases);
	}

	/**
	 * Note that the transaction has been committed.
	 */
	void committed() {
		this.claims.committed(this.leases);
	}

	/**
	 * Note that the transaction has been rolled back, or that nobody knows.
	 */
	void rolledBack() {
		this.claims.rolledBack(this.leases);
	}

}
