package io.github.holdfast.lab;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.VerdictTable.Row;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * What is done to a node, or to Redis, while two nodes sell.
 */
enum Trouble {

	/** Nothing. */
	NONE("calm", null),

	/** The holder stands still while an order works. */
	FROZEN("frozen", """
			{"kind": "FREEZE", "millis": 3000, "atMs": 200}"""),

	/** The holder stands still at its commit. */
	FROZEN_AT_COMMIT("frozen at its commit", """
			{"kind": "FREEZE", "millis": 3000, "atMs": 200, "moment": "COMMIT"}"""),

	/** The holder stands still when it gives its lock back. */
	FROZEN_AT_RELEASE("frozen at its release", """
			{"kind": "FREEZE", "millis": 3000, "atMs": 200, "moment": "RELEASE"}"""),

	/** The holder is killed. */
	KILLED("killed", """
			{"kind": "KILL", "millis": 100, "atMs": 200}"""),

	/** The store forgets. */
	REDIS_RESTARTED("Redis restarted", """
			{"kind": "RESTART_REDIS", "millis": 0, "atMs": 1500}"""),

	/**
	 * The store that takes over has not heard of the last locks. All that it knows have
	 * expired.
	 */
	REPLICA_PROMOTED("replica promoted", """
			{"kind": "PROMOTE_REPLICA", "millis": 2000, "atMs": 1500}""");

	private final String title;

	private final @Nullable String fault;

	Trouble(String title, @Nullable String fault) {
		this.title = title;
		this.fault = fault;
	}

	/** What {@code README.md} shows. */
	Optional<Code> verdict(Row row) {
		return row.verdicts().get(1 + ordinal());
	}

	/** A run that meets it. */
	String run(StrategyType strategy) {
		String request = request(strategy);
		return (this.fault != null) ? request.replaceFirst("}$", ", \"faults\": [" + this.fault + "]}") : request;
	}

	/**
	 * The orders of that run. They take longer than Redis needs to come back; with
	 * Holdfast, so short that no renewal finds out in time. Where nobody waits, they come
	 * one after the other, so that some are on their way and some are still to come.
	 */
	private String request(StrategyType strategy) {
		boolean renewed = strategy.group() == StrategyType.Group.HOLDFAST;
		return switch (this) {
			case NONE -> sale(strategy, 2);
			case KILLED -> orders(strategy, 40, 30);
			case REDIS_RESTARTED, REPLICA_PROMOTED -> switch (strategy) {
				case REDIS_STOCK, REDIS_ATOMIC_LONG ->
					sale(strategy, 2, 20, 50, 20, 1000).replaceFirst("}$", ", \"ratePerSecond\": 10}");
				default -> orders(strategy, renewed ? 30 : 16, renewed ? 400 : 1000);
			};
			default -> orders(strategy, 80, 30);
		};
	}

	/** More orders than there is stock, and nothing happens. */
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

	@Override
	public String toString() {
		return this.title;
	}

}
