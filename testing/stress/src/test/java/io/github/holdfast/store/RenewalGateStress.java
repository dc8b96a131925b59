package io.github.holdfast.store;

import java.util.concurrent.CompletableFuture;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A lease is renewed just when its holder hands it over. The two numbers are written
 * while it is renewed.
 */
public final class RenewalGateStress {

	private RenewalGateStress() {
	}

	@JCStressTest
	@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "It is not handed over.")
	@Outcome(id = { "0, 0", "1, 1" }, expect = Expect.ACCEPTABLE, desc = "Before or after the renewal.")
	@Outcome(expect = Expect.FORBIDDEN, desc = "The renewal goes on in the turn of the next holder.")
	@State
	public static class NoRenewalInTheNextTurn {

		private final RenewalGate gate = new RenewalGate();

		private int one;

		private int two;

		@Actor
		public void renewal() {
			this.gate.renew(() -> false, () -> {
				this.one = 1;
				this.two = 1;
				return CompletableFuture.completedStage(true);
			});
		}

		@Actor
		public void holder(II_Result result) {
			try (RenewalGate.Change change = this.gate.beginChange()) {
				result.r1 = (change != null) ? this.one : -1;
				result.r2 = (change != null) ? this.two : -1;
			}
		}

	}

	/**
	 * Only looks whether a renewal is under way.
	 */
	@JCStressTest
	@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "It is not handed over.")
	@Outcome(id = { "0, 0", "1, 1" }, expect = Expect.ACCEPTABLE, desc = "Before or after the renewal.")
	@Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "The renewal goes on in the turn of the next holder.")
	@State
	public static class NoRenewalInTheNextTurnControl {

		private volatile boolean renewing;

		private int one;

		private int two;

		@Actor
		public void renewal() {
			this.renewing = true;
			this.one = 1;
			this.two = 1;
			this.renewing = false;
		}

		@Actor
		public void holder(II_Result result) {
			boolean passed = !this.renewing;
			result.r1 = passed ? this.one : -1;
			result.r2 = passed ? this.two : -1;
		}

	}

}
