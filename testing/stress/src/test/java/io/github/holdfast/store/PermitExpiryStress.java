package io.github.holdfast.store;

import java.time.Duration;
import java.util.function.Supplier;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A permit whose time has run out, and whose holder releases it, while a waiter looks.
 */
public final class PermitExpiryStress {

	private PermitExpiryStress() {
	}

	@JCStressTest
	@Outcome(id = "false, .*", expect = Expect.ACCEPTABLE, desc = "Before the release.")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "It is waited for.")
	@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "It is released, and taken over all the same.")
	@State
	public static class NotTakenOverWhileReleased {

		private final PermitExpiry expiry = new PermitExpiry();

		public NotTakenOverWhileReleased() {
			this.expiry.after(() -> Duration.ZERO);
		}

		@Actor
		public void holder() {
			this.expiry.byRelease();
		}

		@Actor
		public void waiter(ZZ_Result result) {
			result.r1 = this.expiry.isReleasing();
			result.r2 = this.expiry.hasPassed();
		}

	}

	/**
	 * Tells of the release before it keeps others from taking over.
	 */
	@JCStressTest
	@Outcome(id = "false, .*", expect = Expect.ACCEPTABLE, desc = "Before the release.")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "It is waited for.")
	@Outcome(id = "true, true", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Taken over all the same.")
	@State
	public static class NotTakenOverWhileReleasedControl {

		private volatile Supplier<Duration> remaining = () -> Duration.ZERO;

		private volatile boolean releasing;

		@Actor
		public void holder() {
			this.releasing = true;
			this.remaining = () -> Duration.ofSeconds(1);
		}

		@Actor
		public void waiter(ZZ_Result result) {
			result.r1 = this.releasing;
			result.r2 = this.remaining.get().isZero();
		}

	}

}
