package io.github.holdfast.core;

import java.util.List;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A shutdown interrupts a thread whose wait is just over.
 */
public final class OpenCallsStress {

	private OpenCallsStress() {
	}

	@JCStressTest
	@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "The wait is over before, or begins after it.")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "Interrupted, and the interrupt is taken back.")
	@Outcome(id = ".*, true", expect = Expect.FORBIDDEN, desc = "The interrupt is left to the caller.")
	@State
	public static class NoInterruptIsLeft {

		private final OpenCalls calls = new OpenCalls();

		/**
		 * An interrupt that comes after the end is met by the next one.
		 */
		@Actor
		public void waiter(ZZ_Result result) {
			OpenCalls.Entry entry = this.calls.begin(LockSpec.DEFAULT, 0);
			entry.beginWait(null, List.of());
			result.r1 = entry.endWait();
			result.r2 = Thread.interrupted();
		}

		@Actor
		public void shutdown() {
			this.calls.cancelWaits();
		}

	}

	/**
	 * Volatile, and without the monitor. The interrupt is a field.
	 */
	@JCStressTest
	@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "The wait is over before, or begins after it.")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "Interrupted, and the interrupt is taken back.")
	@Outcome(id = ".*, true", expect = Expect.ACCEPTABLE_INTERESTING, desc = "The interrupt is left to the caller.")
	@State
	public static class NoInterruptIsLeftControl {

		private volatile boolean waiting;

		private volatile boolean cancelled;

		private volatile boolean interrupted;

		@Actor
		public void waiter(ZZ_Result result) {
			this.waiting = true;
			this.waiting = false;
			if (this.cancelled) {
				this.interrupted = false;
				result.r1 = true;
			}
		}

		@Actor
		public void shutdown() {
			if (this.waiting) {
				this.cancelled = true;
				this.interrupted = true;
			}
		}

		@Arbiter
		public void end(ZZ_Result result) {
			result.r2 = this.interrupted;
		}

	}

}
