package io.github.holdfast.lab;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What is to be said about the facts.
 *
 * @param code the verdict
 * @param text a sentence
 * @param arguments the numbers in the sentence
 */
record Verdict(Code code, String text, Map<String, Object> arguments) {

	private static final Map<String, String> BREAKS = Map.of("FREEZE.WORK", "freeze a node for longer than its lease",
			"FREEZE.COMMIT", "freeze a node at its commit", "FREEZE.RELEASE", "freeze a node when it releases its lock",
			"KILL", "kill a node that holds the lock", "RESTART_REDIS", "restart Redis", "SLOW",
			"let each order work for 30 ms", "ORDERS", "send more orders at once to two nodes");

	/**
	 * Finds the verdict: the worst that is true.
	 * @param facts the facts
	 * @param quantity how many pieces each order takes
	 * @param blocked how many orders waited without success while nothing was sold
	 * @param starved how many orders got no connection
	 * @param turnedAway how many orders waited without success although there was stock
	 * for them
	 * @param refused how many commits were refused that would have overwritten sales
	 * @param faults whether something was done to the run, which explains failures and
	 * waiting
	 * @param waitMs how long orders wait
	 * @param breaks what breaks the strategy, so that a run without damage was a lucky
	 * one; {@code null} if nothing in this run could break it
	 */
	static Verdict of(Facts facts, int quantity, int blocked, int starved, int turnedAway, int refused, boolean faults,
			int waitMs, @Nullable String breaks) {
		if (facts.oversold() > 0) {
			return new Verdict(Code.OVERSOLD,
					"Oversold: %d pieces sold, only %d existed. The database says %d are left; %s.".formatted(
							facts.sold() * quantity, facts.stockBefore(), facts.stockAfter(), overwritten(facts)),
					Map.of("sold", facts.sold(), "pieces", facts.sold() * quantity, "oversold", facts.oversold(),
							"lostUpdates", facts.lostUpdates()));
		}
		if (facts.lostUpdates() > 0) {
			boolean hidden = facts.lostUpdates() * quantity > facts.stockAfter() - facts.reallyLeft();
			return new Verdict(Code.LOST_UPDATES,
					"Lost updates: %s: the database says %d, really %d are left.%s".formatted(overwritten(facts),
							facts.stockAfter(), facts.reallyLeft(),
							hidden ? " A later overwrite hid some of them." : ""),
					Map.of("sold", facts.sold(), "lostUpdates", facts.lostUpdates(), "hidden", hidden));
		}
		if (starved > 0) {
			return new Verdict(Code.STARVED,
					"Starved: %d orders got no connection, because waiting orders kept all of them.".formatted(starved),
					Map.of("starved", starved));
		}
		if (blocked > 0) {
			return new Verdict(Code.BLOCKED,
					"Blocked: %d orders waited %d ms without success, and nothing was sold in the meantime."
						.formatted(blocked, waitMs),
					Map.of("blocked", blocked, "waitMs", waitMs));
		}
		if (facts.failed() > 0 && !faults) {
			return new Verdict(Code.FAILED, "Failed: %d orders failed.".formatted(facts.failed()),
					Map.of("failed", facts.failed()));
		}
		if (turnedAway > 0 && !faults) {
			return new Verdict(Code.LEFT_OVER,
					"Turned away too early: %d orders were turned away, although %d pieces are left."
						.formatted(turnedAway, facts.stockAfter()),
					Map.of("turnedAway", turnedAway, "left", facts.stockAfter()));
		}
		return right(facts, refused, breaks);
	}

	private static String overwritten(Facts facts) {
		return (facts.lostUpdates() == 1) ? "1 sale was overwritten" : facts.lostUpdates() + " sales were overwritten";
	}

	private static Verdict right(Facts facts, int refused, @Nullable String breaks) {
		String text = "%d orders were sold, %d pieces are left, and nothing was lost.".formatted(facts.sold(),
				facts.stockAfter());
		if (refused > 0) {
			text += ((refused == 1) ? " One late commit was refused; it" : " %d late commits were refused; they")
				.formatted(refused)
					+ " would have erased %d sale%s.".formatted(facts.saved(), (facts.saved() == 1) ? "" : "s");
		}
		Map<String, Object> arguments = Map.of("sold", facts.sold(), "left", facts.stockAfter(), "refused", refused,
				"saved", facts.saved());
		if (breaks == null) {
			return new Verdict(Code.RIGHT, "Right: " + text, and(arguments, Map.of("lucky", false)));
		}
		return new Verdict(Code.RIGHT, "Right this time: " + text
				+ " No damage this time, but it is not safe. To break it: " + BREAKS.get(breaks) + ".",
				and(arguments, Map.of("lucky", true, "breaks", breaks)));
	}

	private static Map<String, Object> and(Map<String, Object> some, Map<String, Object> more) {
		Map<String, Object> all = new HashMap<>(some);
		all.putAll(more);
		return all;
	}

	/**
	 * All verdicts.
	 */
	enum Code {

		/** Nothing was sold twice, and nothing was lost. */
		RIGHT,

		/** More was sold than there was. */
		OVERSOLD,

		/** Sales were overwritten. */
		LOST_UPDATES,

		/** Orders waited without success while nothing was sold. */
		BLOCKED,

		/** Orders failed because the pool had no connection for them. */
		STARVED,

		/** Orders failed. */
		FAILED,

		/** Orders were turned away although there was stock for them. */
		LEFT_OVER

	}

}
