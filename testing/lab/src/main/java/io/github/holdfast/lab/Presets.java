package io.github.holdfast.lab;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.Mishap;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * For each strategy, a run that shows its weakness; for one without weakness, a run that
 * breaks others.
 */
final class Presets {

	/** Twice the lease: other orders get the lock in the meantime. */
	private static final int FREEZE_MS = 3_000;

	/**
	 * Longer than the lease, and so short that the others do not wait without success.
	 */
	private static final int SHORT_FREEZE_MS = 2_000;

	private Presets() {
	}

	static RunRequest of(StrategyType strategy) {
		return switch (strategy) {
			case DELETE_WITHOUT_OWNER, EXPIRY_IN_JAVA, INSERT_LOCK_CLEANER -> run(strategy, 40, 80, 20, null, 30);
			case SETNX_NO_EXPIRY ->
				run(strategy, 100, 32, 32, 10, 50, fault(0, Fault.Kind.KILL, 2_000, Mishap.Moment.WORK));
			case GET_THEN_DEL ->
				run(strategy, 1_000, 48, 8, null, 200, fault(0, Fault.Kind.FREEZE, FREEZE_MS, Mishap.Moment.RELEASE),
						fault(4_500, Fault.Kind.FREEZE, FREEZE_MS, Mishap.Moment.RELEASE));
			case REDIS_STOCK, REDIS_ATOMIC_LONG ->
				// The frozen node keeps orders on their way until Redis is back
				run(strategy, 20, 50, 20, 10, 1_000, fault(1_500, Fault.Kind.RESTART_REDIS, 0, Mishap.Moment.WORK),
						fault(500, Fault.Kind.FREEZE, 2 * FREEZE_MS, Mishap.Moment.WORK));
			case COPIED_ASPECT -> run(strategy, 1_000, 40, 40, null, 2);
			case TRANSACTION_LEFT_OPEN -> run(strategy, 20, 80, 40, null, 2);
			case REDIS_PX_LUA, REDISSON_WATCHDOG -> frozen(strategy, Mishap.Moment.WORK, FREEZE_MS);
			case HOLDFAST_JDBC, HOLDFAST_REDIS_FENCE -> frozen(strategy, Mishap.Moment.COMMIT, SHORT_FREEZE_MS);
			case HOLDFAST_REDIS_LEASE -> frozen(strategy, Mishap.Moment.COMMIT, FREEZE_MS);
			case ONE_LOCK_FOR_ALL, LOCK_TABLE ->
				new RunRequest(strategy.id(), 100, 200, 20, 2, 1, null, 20, 10, null, null);
			default -> run(strategy, 100, 200, 20, null, 2);
		};
	}

	/**
	 * What breaks a strategy, in one word.
	 * @return the kind of the fault, with its moment; {@code SLOW} for orders that take
	 * their time; {@code ORDERS} if no more is needed than orders on two nodes
	 */
	static String breaks(StrategyType strategy) {
		RunRequest preset = of(strategy);
		return preset.faults()
			.stream()
			.map((fault) -> (fault.kind() == Fault.Kind.FREEZE) ? fault.kind() + "." + fault.moment()
					: String.valueOf(fault.kind()))
			.findFirst()
			.orElse((preset.workMs() >= 30) ? "SLOW" : "ORDERS");
	}

	private static RunRequest frozen(StrategyType strategy, Mishap.Moment moment, int millis) {
		return run(strategy, 200, 120, 12, null, 1, fault(0, Fault.Kind.FREEZE, millis, moment));
	}

	private static Fault.Request fault(int atMs, Fault.Kind kind, int millis, Mishap.Moment moment) {
		return new Fault.Request(atMs, kind, 1, millis, moment);
	}

	private static RunRequest run(StrategyType strategy, int stock, int orders, int concurrency,
			@Nullable Integer ratePerSecond, int workMs, Fault.Request... faults) {
		return new RunRequest(strategy.id(), stock, orders, concurrency, 2, 1, ratePerSecond, workMs, 1, null,
				List.of(faults));
	}

}
