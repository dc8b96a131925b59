package io.github.holdfast.lab;

/**
 * A node, as it is shown.
 *
 * @param port where it listens; 0 as long as it starts
 */
record NodeView(int id, long pid, int port, State state) {

	enum State {

		STARTING, UP, FROZEN, DEAD

	}

}
