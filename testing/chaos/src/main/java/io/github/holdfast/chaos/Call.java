package io.github.holdfast.chaos;

import java.util.List;

/**
 * A call that has ended, as its node has written it down. Times are those of
 * {@link System#nanoTime()}, which all processes of a machine share.
 *
 * @param id tells it from all others of the run
 * @param kind what it was
 * @param node the node
 * @param started when it was made
 * @param ended when it returned
 * @param ending how it ended
 * @param runs how often its body ran
 * @param touches what its transactions did
 * @param holds when it ran under which lock
 * @param left what it left behind on its thread, usually nothing
 * @param detail what it threw
 */
record Call(String id, Step.Kind kind, int node, long started, long ended, Ending ending, int runs, List<Touch> touches,
		List<Hold> holds, String left, String detail) {

	/**
	 * The time for which a body ran under a lock.
	 */
	record Hold(String key, long from, long to) {

	}

}
