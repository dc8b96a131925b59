package io.github.holdfast.core;

import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * The owner of an acquisition is made when it is asked for, by whichever thread that is.
 */
public final class LockOwnerStress {

	private LockOwnerStress() {
	}

	@JCStressTest
	@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "One owner.")
	@Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "The store gets another owner than the fence.")
	@State
	public static class OneOwner {

		private final LockOwner owner = LockOwner.ofCurrentThread("lock");

		private String one = "";

		private String two = "";

		@Actor
		public void store() {
			this.one = this.owner.owner();
		}

		@Actor
		public void fence() {
			this.two = this.owner.owner();
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.one.equals(this.two);
		}

	}

	/**
	 * Without the monitor.
	 */
	@JCStressTest
	@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "One owner.")
	@Outcome(id = "false", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two owners.")
	@State
	public static class OneOwnerControl {

		private @Nullable String owner;

		private String one = "";

		private String two = "";

		@Actor
		public void store() {
			this.one = owner();
		}

		@Actor
		public void fence() {
			this.two = owner();
		}

		private String owner() {
			String owner = this.owner;
			if (owner == null) {
				owner = new UUID(System.nanoTime(), Thread.currentThread().getId()).toString();
				this.owner = owner;
			}
			return owner;
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.one.equals(this.two);
		}

	}

}
