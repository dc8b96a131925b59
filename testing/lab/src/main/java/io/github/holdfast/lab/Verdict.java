package io.github.holdfast.lab;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What is to be said about the facts. The language files of the page put it into words.
 */
record Verdict(Code code, Map<String, Object> arguments) {

	/**
	 * Finds the verdict: the worst that is true.
	 * @param blocked how many orders waited without success while nothing was sold
	 * @param turnedAway how many orders waited without success although there was stock
	 * for them
	 * @param faults whether something was done to the run, which explains failures and
	 * waiting
	 * @param breaks what breaks the strategy, so that a run without damage was a lucky
	 * one; {@code null} if nothing in this run could break it
	 */
	static Verdict of(Trial.Facts facts, boolean hidden, int blocked, int starved, int turnedAway, int refused,
			boolean faults, int waitMs, @Nullable String breaks) {
		if (facts.oversold() > 0) {
			return new Verdict(Code.OVERSOLD,
					Map.of("sold", facts.sold(), "pieces", facts.stockBefore() - facts.reallyLeft(), "oversold",
							facts.oversold(), "lostUpdates", facts.lostUpdates()));
		}
		if (facts.lostUpdates() > 0) {
			return new Verdict(Code.LOST_UPDATES,
					Map.of("sold", facts.sold(), "lostUpdates", facts.lostUpdates(), "hidden", hidden));
		}
		if (starved > 0) {
			return new Verdict(Code.STARVED, Map.of("starved", starved));
		}
		if (blocked > 0) {
			return new Verdict(Code.BLOCKED, Map.of("blocked", blocked, "waitMs", waitMs));
		}
		if (facts.failed() > 0 && !faults) {
			return new Verdict(Code.FAILED, Map.of("failed", facts.failed()));
		}
		if (turnedAway > 0 && !faults) {
			return new Verdict(Code.LEFT_OVER, Map.of("turnedAway", turnedAway, "left", facts.stockAfter()));
		}
		Map<String, Object> arguments = new HashMap<>(Map.of("sold", facts.sold(), "left", facts.stockAfter(),
				"refused", refused, "saved", facts.saved(), "lucky", breaks != null));
		if (breaks != null) {
			arguments.put("breaks", breaks);
		}
		return new Verdict(Code.RIGHT, arguments);
	}

	enum Code {

		RIGHT, OVERSOLD, LOST_UPDATES,

		/** Orders waited without success while nothing was sold. */
		BLOCKED,

		/** Orders failed because the pool had no connection for them. */
		STARVED, FAILED,

		/** Orders were turned away although there was stock for them. */
		LEFT_OVER

	}

}
