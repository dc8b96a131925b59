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

	private final @Nullable Object session;

	Claim(HeldLock lock, List<LockLease> leases, FenceClaims claims, Connection connection) {
		this.lock = lock;
		this.leases = leases;
		this.claims = claims;
		this.connection = connection;
		this.session = OpenTransaction.session(connection);
	}

	boolean covers(LockLease lease) {
		return this.leases.contains(lease);
	}

	/**
	 * Whether it lasts as long as nobody ends the transaction on the connection. Not if
	 * that goes on with another session, as drivers with failover do.
	 */
	boolean isKeptUntilTheEnd() {
		return this.session != null && this.session == OpenTransaction.session(this.connection);
	}

	/**
	 * Write the leases once more, after a rollback.
	 */
	boolean isMadeAgain(Connection connection) {
		return this.claims.claim(connection, this.leases, false);
	}

	/**
	 * Note that another transaction commits under the lock while this one is open.
	 */
	void notAlone() {
		this.lock.commits().bodyNotAlone();
	}

	/**
	 * Note that the transaction has been committed.
	 */
	void committed() {
		this.claims.committed(this.leases);
	}

}
