package io.github.holdfast.lab;

import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.VerdictTable.Row;
import io.github.holdfast.lab.strategy.Group;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * What is done to a node, or to Redis, while two nodes sell.
 */
enum Trouble {

	/** Nothing. */
	NONE("calm", Row::twoNodes, null) {

		@Override
		String request(StrategyType strategy) {
			return sale(strategy, 2);
		}

	},

	/** The holder stands still while an order works. */
	FROZEN("frozen", Row::frozen, """
			{"kind": "FREEZE", "node": 1, "millis": 3000}"""),

	/** The holder stands still at its commit. */
	FROZEN_AT_COMMIT("frozen at its commit", Row::frozenAtCommit, """
			{"kind": "FREEZE", "node": 1, "millis": 3000, "moment": "COMMIT"}"""),

	/** The holder stands still when it gives its lock back. */
	FROZEN_AT_RELEASE("frozen at its release", Row::frozenAtRelease, """
			{"kind": "FREEZE", "node": 1, "millis": 3000, "moment": "RELEASE"}"""),

	/** The holder is killed. */
	KILLED("killed", Row::killed, """
			{"kind": "KILL", "node": 1, "millis": 100}""") {

		@Override
		String request(StrategyType strategy) {
			return orders(strategy, 40, 30);
		}

	},

	/**
	 * The store forgets. Orders take longer than Redis needs to come back; with Holdfast,
	 * so short that no renewal finds out in time. Where nobody waits, they come one after
	 * the other, so that some are on their way and some are still to come.
	 */
	REDIS_RESTARTED("Redis restarted", Row::redisRestarted, """
			{"kind": "RESTART_REDIS", "millis": 0}""") {

		@Override
		String request(StrategyType strategy) {
			return (strategy == StrategyType.REDIS_STOCK) ? oneAfterTheOther(strategy)
					: longerThanRedisIsAway(strategy);
		}

	},

	/**
	 * The store that takes over has not heard of the last locks. All that it knows have
	 * expired.
	 */
	REPLICA_PROMOTED("replica promoted", Row::replicaPromoted, """
			{"kind": "PROMOTE_REPLICA", "millis": 2000}""") {

		@Override
		String request(StrategyType strategy) {
			return longerThanRedisIsAway(strategy);
		}

	};

	private final String title;

	private final Function<Row, @Nullable Code> verdict;

	private final @Nullable String fault;

	Trouble(String title, Function<Row, @Nullable Code> verdict, @Nullable String fault) {
		this.title = title;
		this.verdict = verdict;
		this.fault = fault;
	}

	/**
	 * What {@code README.md} shows, or {@code null}.
	 */
	@Nullable Code verdict(Row row) {
		return this.verdict.apply(row);
	}

	/**
	 * The fault, to be done when some orders are sold.
	 */
	String fault() {
		if (this.fault == null) {
			throw new IllegalStateException("Nothing is done");
		}
		return this.fault;
	}

	/**
	 * A run that meets it.
	 */
	String request(StrategyType strategy) {
		return orders(strategy, 80, 30);
	}

	/**
	 * The same, which does the fault by itself.
	 */
	String experiment(StrategyType strategy) {
		String request = request(strategy);
		return (this.fault != null) ? request.replaceFirst("}$",
				", \"faults\": [" + this.fault.replaceFirst("}$", ", \"atMs\": 200}") + "]}") : request;
	}

	/**
	 * More orders than there is stock, and nothing happens.
	 */
	static String sale(StrategyType strategy, int nodes) {
		return switch (strategy) {
			case COPIED_ASPECT -> sale(strategy, nodes, 1000, 40, 40, 2);
			case TRANSACTION_LEFT_OPEN -> sale(strategy, nodes, 20, 80, 40, 2);
			case DELETE_WITHOUT_OWNER, EXPIRY_IN_JAVA, INSERT_LOCK_CLEANER -> sale(strategy, nodes, 40, 80, 20, 30);
			default -> sale(strategy, nodes, 40, 80, 20, 5);
		};
	}

	private static String sale(StrategyType strategy, int nodes, int stock, int orders, int concurrency, int workMs) {
		return """
				{"strategy": "%s", "nodes": %d, "stock": %d, "orders": %d, "concurrency": %d, "workMs": %d}"""
			.formatted(strategy.id(), nodes, stock, orders, concurrency, workMs);
	}

	private static String orders(StrategyType strategy, int orders, int workMs) {
		return sale(strategy, 2, 1000, orders, 8, workMs);
	}

	private static String longerThanRedisIsAway(StrategyType strategy) {
		boolean renewed = strategy.group() == Group.HOLDFAST;
		return orders(strategy, renewed ? 30 : 16, renewed ? 400 : 1000);
	}

	private static String oneAfterTheOther(StrategyType strategy) {
		return """
				{"strategy": "%s", "stock": 20, "orders": 50, "concurrency": 20, "ratePerSecond": 10, "workMs": 1000}"""
			.formatted(strategy.id());
	}

	@Override
	public String toString() {
		return this.title;
	}

}
