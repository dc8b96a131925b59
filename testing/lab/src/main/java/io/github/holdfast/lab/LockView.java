package io.github.holdfast.lab;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A lock of Holdfast that a node holds or waits for right now.
 *
 * @param node the node
 * @param name the name of the lock
 * @param key its key
 * @param state whether it is held
 * @param sinceMs for how long
 * @param thread the thread that works or waits
 * @param holder the owner in the store, if it is held
 */
record LockView(int node, String name, String key, State state, long sinceMs, String thread, @Nullable String holder) {

	/**
	 * Whether a lock is held.
	 */
	enum State {

		/** The node holds it. */
		HELD,

		/** The node waits for it. */
		WAITING

	}

	/**
	 * What the endpoint of a node tells.
	 *
	 * @param held the locks that it holds
	 * @param waiting the locks that it waits for
	 */
	record Answer(List<Use> held, List<Use> waiting) {

		Stream<LockView> views(int node) {
			return Stream.concat(this.held.stream().map((use) -> use.view(node, State.HELD)),
					this.waiting.stream().map((use) -> use.view(node, State.WAITING)));
		}

	}

	/**
	 * A lock, as the endpoint of a node tells it.
	 *
	 * @param name the name of the lock
	 * @param key its key
	 * @param thread the thread
	 * @param since since when
	 * @param owner the owner in the store, if it is held
	 */
	record Use(String name, String key, String thread, @Nullable Instant since, @Nullable String owner) {

		LockView view(int node, State state) {
			long sinceMs = (this.since != null) ? Math.max(0, Duration.between(this.since, Instant.now()).toMillis())
					: 0;
			return new LockView(node, this.name, this.key, state, sinceMs, this.thread, this.owner);
		}

	}

}
