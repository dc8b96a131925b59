package io.github.holdfast.sample.wms.proof;

import java.util.List;

/**
 * What keeps the locks during a test, and ends with it.
 */
interface LockServer extends AutoCloseable {

	/**
	 * What a node is told on the command line to keep its locks there.
	 */
	List<String> arguments();

	@Override
	void close();

	/**
	 * A server that has forgotten everything when it is restarted.
	 */
	interface Forgetful extends LockServer {

		void kill();

		void restart();

	}

}
