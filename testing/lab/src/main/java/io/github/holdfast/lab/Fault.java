package io.github.holdfast.lab;

import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.Mishap;
import io.github.holdfast.lab.strategy.StrategyType.Peril;

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

	/**
	 * What is to be done to a run.
	 *
	 * @param atMs how long after the first order; at once, if it is left out
	 * @param millis for how long, or how far a replica lags behind; 4 seconds, if it is
	 * left out
	 * @param moment at which moment of an order; while it works, if it is left out
	 */
	record Request(@Nullable Integer atMs, @Nullable Kind kind, @Nullable Integer node, @Nullable Integer millis,
			Mishap.@Nullable Moment moment) {

		Request {
			atMs = (atMs != null) ? atMs : 0;
			node = (node != null) ? node : 1;
			millis = (millis != null) ? millis : 4_000;
			moment = (moment != null) ? moment : Mishap.Moment.WORK;
		}

		/** Checks it; where it is in the run's request, the path says, with a dot. */
		void check(int nodes, String path, List<RunRequest.FieldProblem> problems) {
			if (this.kind == null) {
				problems.add(new RunRequest.FieldProblem(path + "kind",
						"must be FREEZE, KILL, RESTART_REDIS or PROMOTE_REPLICA"));
			}
			RunRequest.check(path + "atMs", this.atMs, 0, 60_000, problems);
			RunRequest.check(path + "node", this.node, 1, nodes, problems);
			RunRequest.check(path + "millis", this.millis, 0, 60_000, problems);
		}

	}

}
