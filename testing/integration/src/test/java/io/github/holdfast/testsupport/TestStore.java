package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.Set;

import io.github.holdfast.ManageableLockBackend;

/** A store as a contract sees it: two nodes, of which the first has a proxy. */
public interface TestStore extends AutoCloseable {

	/** The node behind the proxy. */
	ManageableLockBackend near();

	/** The node that reaches the store at any time. */
	ManageableLockBackend far();

	/** The network of the first node. */
	FaultProxy proxy();

	/** Whether somebody has a lock, or a place among those who wait for it. */
	boolean isHeld(String key);

	/** Whether somebody waits for a lock that another one has. */
	boolean isWaitedFor(String key);

	/**
	 * Takes a lock away from its holder behind everybody's back, as an operator could.
	 */
	void remove(String key);

	/** What an exception says if the store does not answer. */
	default String silence() {
		return "did not answer in time";
	}

	/** What the store tells of a holder, besides owner and epoch. */
	default Set<Told> told() {
		return Set.of();
	}

	/**
	 * The time of its leases. It is short where what a node could not give back runs out.
	 */
	default Duration leaseTime() {
		return Duration.ofSeconds(60);
	}

	/** What the locks of the first node would end with, if anything. */
	default long session() {
		return 0;
	}

	/** Closes the clients and the proxy, but not a server that others use too. */
	@Override
	void close();

	/** What a store may tell of a holder. */
	enum Told {

		/** When the lock was granted. */
		SINCE,

		/** When the lease runs out. */
		EXPIRES

	}

}
