package io.github.holdfast.lab;

/**
 * A node, as it is shown.
 *
 * @param id its number, from 1 on
 * @param pid its process
 * @param port where it listens; 0 as long as it starts
 * @param state how it is
 */
record NodeView(int id, long pid, int port, State state) {

	/**
	 * How a node is.
	 */
	enum State {

		/** It does not answer yet. */
		STARTING,

		/** It answers. */
		UP,

		/** It stands still. */
		FROZEN,

		/** It was killed. */
		DEAD

	}

}
