package io.github.holdfast.chaos;

import java.util.List;

/**
 * A call that has ended, as its node has written it down: when, how, how often its body
 * ran, what its transactions did, when it held which lock, what it left on its thread,
 * and what it threw. Times are those of {@link System#nanoTime()}, which all processes of
 * a machine share.
 */
record Call(String id, Step.Kind kind, int node, long started, long ended, Ending ending, int runs, List<Touch> touches,
		List<Hold> holds, String left, String detail) {

	/** The time for which a body ran under a lock. */
	record Hold(String key, long from, long to) {

	}

}
