package io.github.holdfast.lab;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.Mishap;
import io.github.holdfast.lab.strategy.Peril;

/**
 * What was done to a run.
 */
record Fault(String strategy, Kind kind, @Nullable Integer node, Mishap.@Nullable Moment moment, long atMs,
		long untilMs) {

	/** What a strategy has to withstand. */
	Optional<Peril> peril() {
		return switch (this.kind) {
			case FREEZE -> Optional.of((this.moment == Mishap.Moment.COMMIT) ? Peril.PAUSE_AT_COMMIT : Peril.PAUSE);
			case KILL -> Optional.empty();
			case RESTART_REDIS, PROMOTE_REPLICA -> Optional.of(Peril.FORGOTTEN_LOCKS);
		};
	}

	enum Kind {

		/** The node stands still. */
		FREEZE,

		/** The node is killed, and started again. */
		KILL,

		/** Redis is killed, and comes back without its data. */
		RESTART_REDIS,

		/** Redis is killed, and a replica that lags behind takes its place. */
		PROMOTE_REPLICA;

		boolean isOfNode() {
			return this == FREEZE || this == KILL;
		}

	}

}
