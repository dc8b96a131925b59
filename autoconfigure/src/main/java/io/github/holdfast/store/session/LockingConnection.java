package io.github.holdfast.store.session;

import java.sql.Connection;

import io.github.holdfast.LockLease;

/**
 * A connection whose database session holds locks. A {@link Connection} that is one tells
 * so by {@link Connection#isWrapperFor}, whatever is wrapped around it.
 */
interface LockingConnection {

	/**
	 * Whether the session of this connection holds a lock. Does no I/O.
	 * @param lease the lease of the lock
	 * @return {@code false} if the lock belongs to another connection, was released, or
	 * the session is known to have ended
	 */
	boolean holds(LockLease lease);

}
