package io.github.holdfast.lab;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.VerdictTable.Row;
import io.github.holdfast.lab.strategy.Mishap;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * What is done to a node, or to Redis, while two nodes sell: a column of the README. All
 * that a replica knows has expired when it is promoted.
 */
enum Trouble {

	NONE(null, 0, 0, null), FROZEN(Fault.Kind.FREEZE, 200, 3_000, Mishap.Moment.WORK),
	FROZEN_AT_COMMIT(Fault.Kind.FREEZE, 200, 3_000, Mishap.Moment.COMMIT),
	FROZEN_AT_RELEASE(Fault.Kind.FREEZE, 200, 3_000, Mishap.Moment.RELEASE),
	KILLED(Fault.Kind.KILL, 200, 100, Mishap.Moment.WORK), REDIS_RESTARTED(Fault.Kind.RESTART_REDIS, 1_500, 0, null),
	REPLICA_PROMOTED(Fault.Kind.PROMOTE_REPLICA, 1_500, 2_000, null);

	private final List<Fault.Request> faults;

	Trouble(Fault.@Nullable Kind kind, int atMs, int millis, Mishap.@Nullable Moment moment) {
		this.faults = (kind != null) ? List.of(new Fault.Request(atMs, kind, 1, millis, moment)) : List.of();
	}

	/** What {@code README.md} shows. */
	Optional<Code> verdict(Row row) {
		return row.verdicts().get(1 + ordinal());
	}

	/**
	 * A run that meets it. Orders take longer than Redis needs to come back; with
	 * Holdfast, so short that no renewal finds out in time. Where nobody waits, they come
	 * one after the other, so that some are on their way and some are still to come.
	 */
	String run(StrategyType strategy) {
		boolean renewed = strategy.group() == StrategyType.Group.HOLDFAST;
		return switch (this) {
			case NONE -> sale(strategy, 2);
			case KILLED -> run(strategy, 2, 1_000, 40, 8, null, 30);
			case REDIS_RESTARTED, REPLICA_PROMOTED -> switch (strategy) {
				case REDIS_STOCK, REDIS_ATOMIC_LONG -> run(strategy, 2, 20, 50, 20, 10, 1_000);
				default -> run(strategy, 2, 1_000, renewed ? 30 : 16, 8, null, renewed ? 400 : 1_000);
			};
			default -> run(strategy, 2, 1_000, 80, 8, null, 30);
		};
	}

	/** More orders than there is stock, and nothing happens. */
	static String sale(StrategyType strategy, int nodes) {
		return switch (strategy) {
			case COPIED_ASPECT -> NONE.run(strategy, nodes, 1_000, 40, 40, null, 2);
			case TRANSACTION_LEFT_OPEN -> NONE.run(strategy, nodes, 20, 80, 40, null, 2);
			case DELETE_WITHOUT_OWNER, EXPIRY_IN_JAVA, INSERT_LOCK_CLEANER ->
				NONE.run(strategy, nodes, 40, 80, 20, null, 30);
			default -> NONE.run(strategy, nodes, 40, 80, 20, null, 5);
		};
	}

	private String run(StrategyType strategy, int nodes, int stock, int orders, int concurrency,
			@Nullable Integer ratePerSecond, int workMs) {
		return new JsonMapper().writeValueAsString(new RunRequest(strategy.id(), stock, orders, concurrency, nodes, 1,
				ratePerSecond, workMs, 1, null, this.faults));
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', ' ');
	}

}
