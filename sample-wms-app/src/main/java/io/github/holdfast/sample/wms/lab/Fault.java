package io.github.holdfast.sample.wms.lab;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sample.wms.lab.strategy.Mishap;

/**
 * What was done to a run.
 *
 * @param kind what
 * @param node to which node
 * @param moment at which moment of an order
 * @param atMs when it began, since the run's start
 * @param untilMs when it ends
 */
record Fault(Kind kind, @Nullable Integer node, Mishap.@Nullable Moment moment, long atMs, long untilMs) {

	/**
	 * What can be done.
	 */
	enum Kind {

		/** The node stands still. */
		FREEZE,

		/** The node is killed, and started again. */
		KILL,

		/** Redis is killed, and comes back without its data. */
		RESTART_REDIS

	}

}
