package io.github.holdfast.store;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A permit that was granted to a thread that sleeps, which wakes up just when another one
 * barges in.
 */
public final class PermitStateStress {

	private PermitStateStress() {
	}

	@JCStressTest
	@Outcome(id = { "true, false", "false, true" }, expect = Expect.ACCEPTABLE, desc = "One of them has it.")
	@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "Two holders.")
	@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The permit is lost.")
	@State
	public static class ClaimOrBarge {

		private final PermitState permit = PermitState.granted();

		@Actor
		public void sleeper(ZZ_Result result) {
			result.r1 = this.permit.claim();
		}

		@Actor
		public void barger(ZZ_Result result) {
			result.r2 = this.permit.barge();
		}

	}

	/**
	 * Looks, and then takes.
	 */
	@JCStressTest
	@Outcome(id = { "true, false", "false, true" }, expect = Expect.ACCEPTABLE, desc = "One of them has it.")
	@Outcome(id = "true, true", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two holders.")
	@State
	public static class ClaimOrBargeControl {

		private volatile boolean granted = true;

		@Actor
		public void sleeper(ZZ_Result result) {
			result.r1 = take();
		}

		@Actor
		public void barger(ZZ_Result result) {
			result.r2 = take();
		}

		private boolean take() {
			if (!this.granted) {
				return false;
			}
			this.granted = false;
			return true;
		}

	}

}
