package io.github.holdfast.chaos;

import java.util.List;

/**
 * The server that keeps the locks of a run apart from the business database.
 */
interface LockStore extends AutoCloseable {

	/**
	 * The local ports of the servers, the same after each restart.
	 */
	List<Integer> ports();

	/**
	 * What is left of locks that nobody holds any more.
	 * @return for example the keys of the locks
	 */
	List<String> leftovers();

	/**
	 * How many keys, nodes or the like there are.
	 */
	long size();

	/**
	 * Lets something go wrong.
	 * @param fault a fault of the place {@link Fault.Place#STORE}; one that lasts ends by
	 * {@link #end}
	 * @return whether it has met anything
	 */
	boolean begin(Fault fault);

	/**
	 * Ends a fault that lasts.
	 */
	default void end(Fault fault) {
	}

	@Override
	void close();

}
