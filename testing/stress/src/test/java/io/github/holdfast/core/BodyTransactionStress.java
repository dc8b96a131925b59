package io.github.holdfast.core;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * One call learns that its body is nothing but one transaction, another one that it is
 * more.
 */
public final class BodyTransactionStress {

	private BodyTransactionStress() {
	}

	@JCStressTest
	@Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "Once seen with others, it is never alone again.")
	@Outcome(id = "true", expect = Expect.FORBIDDEN, desc = "The lock would end before the body's other work.")
	@State
	public static class NeverAloneAgain {

		private final BodyTransaction transaction = BodyTransaction.claiming("transaction");

		@Actor
		public void alone() {
			this.transaction.wasAlone();
		}

		@Actor
		public void notAlone() {
			this.transaction.notAlone();
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.transaction.isAlone();
		}

	}

	/**
	 * Volatile, and without the monitor.
	 */
	@JCStressTest
	@Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "Once seen with others, it is never alone again.")
	@Outcome(id = "true", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What was learnt is forgotten.")
	@State
	public static class NeverAloneAgainControl {

		private volatile int alone;

		@Actor
		public void alone() {
			if (this.alone == 0) {
				this.alone = 1;
			}
		}

		@Actor
		public void notAlone() {
			this.alone = -1;
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.alone == 1;
		}

	}

}
