package io.github.holdfast.chaos;

/**
 * The server that keeps the locks of a run apart from the business database.
 */
interface LockStore extends AutoCloseable {

	/**
	 * The local port of the server, the same after each restart.
	 */
	int port();

	/**
	 * Lets something go wrong.
	 * @param fault a fault of the place {@link Fault.Place#STORE}; one that lasts ends by
	 * {@link #end}
	 */
	void begin(Fault fault);

	/**
	 * Ends a fault that lasts.
	 */
	default void end(Fault fault) {
	}

	@Override
	void close();

}
