package io.github.holdfast.lab;

import java.util.Map;

/**
 * What is to be said about the facts.
 *
 * @param code the verdict
 * @param text a sentence
 * @param arguments the numbers in the sentence
 */
record Verdict(Code code, String text, Map<String, Object> arguments) {

	/**
	 * Finds the verdict: the worst that is true.
	 * @param facts the facts
	 * @param blocked how many orders waited in vain while nothing was sold
	 * @param starved how many orders got no connection
	 * @param turnedAway how many orders waited in vain although there was stock for them
	 * @param faults whether something was done to the run, which explains failures and
	 * waiting
	 * @param waitMs how long orders wait
	 * @param guarded whether the strategy is right with that many nodes; otherwise, a run
	 * may be lucky
	 * @return the verdict
	 */
	static Verdict of(Facts facts, int blocked, int starved, int turnedAway, boolean faults, int waitMs,
			boolean guarded) {
		if (facts.oversold() > 0) {
			return new Verdict(Code.OVERSOLD,
					"Oversold: %d orders were sold, %d pieces more than there were; %d sales were overwritten."
						.formatted(facts.sold(), facts.oversold(), facts.lostUpdates()),
					Map.of("sold", facts.sold(), "oversold", facts.oversold(), "lostUpdates", facts.lostUpdates()));
		}
		if (facts.lostUpdates() > 0) {
			return new Verdict(
					Code.LOST_UPDATES, "Lost updates: %d orders were sold, and %d of these sales were overwritten."
						.formatted(facts.sold(), facts.lostUpdates()),
					Map.of("sold", facts.sold(), "lostUpdates", facts.lostUpdates()));
		}
		if (starved > 0) {
			return new Verdict(Code.STARVED,
					"Starved: %d orders got no connection, as waiting orders kept all of them.".formatted(starved),
					Map.of("starved", starved));
		}
		if (blocked > 0) {
			return new Verdict(Code.BLOCKED, "Blocked: %d orders waited %d ms in vain, and nothing was sold meanwhile."
				.formatted(blocked, waitMs), Map.of("blocked", blocked, "waitMs", waitMs));
		}
		if (facts.failed() > 0 && !faults) {
			return new Verdict(Code.FAILED, "Failed: %d orders failed.".formatted(facts.failed()),
					Map.of("failed", facts.failed()));
		}
		if (turnedAway > 0 && !faults) {
			return new Verdict(
					Code.LEFT_OVER, "Left over: %d orders were turned away, although %d pieces are left."
						.formatted(turnedAway, facts.stockAfter()),
					Map.of("turnedAway", turnedAway, "left", facts.stockAfter()));
		}
		String right = "%d orders were sold, %d pieces are left, and nothing was lost.".formatted(facts.sold(),
				facts.stockAfter());
		return new Verdict(Code.RIGHT,
				guarded ? "Right: " + right
						: "Right this time: " + right
								+ " That was luck: this run has not met the weakness of its strategy.",
				Map.of("sold", facts.sold(), "left", facts.stockAfter(), "lucky", !guarded));
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

		/** Orders waited in vain while nothing was sold. */
		BLOCKED,

		/** Orders failed because the pool had no connection for them. */
		STARVED,

		/** Orders failed. */
		FAILED,

		/** Orders were turned away although there was stock for them. */
		LEFT_OVER

	}

}
