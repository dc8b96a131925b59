package io.github.holdfast.testsupport;

import java.util.Set;

import io.github.holdfast.ManageableLockBackend;

/**
 * A store of locks as a contract sees it: two nodes with clients of their own, of which
 * the network of the first can fail, and what is in the store.
 */
public interface TestStore extends AutoCloseable {

	/**
	 * The node behind the proxy.
	 * @return the same backend each time
	 */
	ManageableLockBackend near();

	/**
	 * The node that reaches the store at any time.
	 * @return the same backend each time
	 */
	ManageableLockBackend far();

	/**
	 * The network of the first node.
	 * @return the proxy, closed with this
	 */
	FaultProxy proxy();

	/**
	 * Whether somebody has a lock, or a place among those who wait for it.
	 * @param key the key of the lock
	 * @return what the store says, not a client
	 */
	boolean isHeld(String key);

	/**
	 * Whether somebody waits for a lock that another one has.
	 * @param key the key of the lock
	 * @return what the store says, not a client
	 */
	boolean isWaitedFor(String key);

	/**
	 * Takes a lock away from its holder behind everybody's back, as an operator could.
	 * @param key the key of a lock that is held
	 */
	void remove(String key);

	/**
	 * What an exception says if the store does not answer.
	 * @return a part of its message
	 */
	default String silence() {
		return "did not answer in time";
	}

	/**
	 * What the store tells of a holder, besides owner and epoch.
	 * @return what is told
	 */
	default Set<Told> told() {
		return Set.of();
	}

	/**
	 * What the locks of the first node would end with, if anything.
	 * @return an id of its session, the same as long as it lives
	 */
	default long session() {
		return 0;
	}

	/**
	 * Closes the clients and the proxy, but not a server that others use too.
	 */
	@Override
	void close();

	/**
	 * What a store may tell of a holder.
	 */
	enum Told {

		/** When the lock was granted. */
		SINCE,

		/** When the lease runs out. */
		EXPIRES

	}

}
