package io.github.holdfast.transaction;

import java.sql.Connection;
import java.util.List;

import io.github.holdfast.LockLease;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.fence.FenceClaims;

/**
 * The leases that a running transaction has written into the fence table, where it keeps
 * their rows locked. It lasts as long as the transaction does in the database, which may
 * have ended it: for being idle, or as the victim of a deadlock.
 */
final class Claim {

	private final HeldLock lock;

	private final List<LockLease> leases;

	private final FenceClaims claims;

	Claim(HeldLock lock, List<LockLease> leases, FenceClaims claims) {
		this.lock = lock;
		this.leases = leases;
		this.claims = claims;
	}

	boolean covers(LockLease lease) {
		return this.leases.contains(lease);
	}

	/**
	 * Whether it lasts as long as nobody ends the transaction on the connection.
	 */
	boolean isKeptUntilTheEnd() {
		return this.claims.areKeptUntilTheEnd();
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
