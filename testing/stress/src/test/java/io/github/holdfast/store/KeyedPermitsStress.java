package io.github.holdfast.store;

import java.time.Duration;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Who has the permit of a key is alone, and sees what the one before has written.
 */
public final class KeyedPermitsStress {

	private static final String KEY = "key";

	private static final Duration FOREVER = Duration.ofDays(1);

	private KeyedPermitsStress() {
	}

	private static KeyedPermits<Integer>.Permit acquire(KeyedPermits<Integer> permits) {
		try {
			KeyedPermits<Integer>.Permit permit = permits.acquire(KEY, FOREVER, false, QueueLimits.DEFAULT);
			if (permit == null) {
				throw new IllegalStateException("Waited in vain");
			}
			return permit;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@JCStressTest
	@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "One after the other.")
	@Outcome(id = "1, \\d", expect = Expect.FORBIDDEN, desc = "Both at once, or one has not seen the other's work.")
	@Outcome(id = "2, 1", expect = Expect.FORBIDDEN, desc = "The permit is still out.")
	@State
	public static class OneAfterTheOther {

		private final KeyedPermits<Integer> permits = new KeyedPermits<>();

		private int count;

		@Actor
		public void one() {
			use();
		}

		@Actor
		public void two() {
			use();
		}

		private void use() {
			KeyedPermits<Integer>.Permit permit = acquire(this.permits);
			this.count++;
			permit.release();
		}

		@Arbiter
		public void end(II_Result result) {
			result.r1 = this.count;
			result.r2 = this.permits.size();
		}

	}

	/**
	 * Waits until the permit is in, and then takes it.
	 */
	@JCStressTest
	@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
	@Outcome(id = "1", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Both at once.")
	@State
	public static class OneAfterTheOtherControl {

		private volatile boolean out;

		private int count;

		@Actor
		public void one() {
			use();
		}

		@Actor
		public void two() {
			use();
		}

		private void use() {
			while (this.out) {
				Thread.onSpinWait();
			}
			this.out = true;
			this.count++;
			this.out = false;
		}

		@Arbiter
		public void end(I_Result result) {
			result.r1 = this.count;
		}

	}

	@JCStressTest
	@Outcome(id = { "1, 0", "1, 7" }, expect = Expect.ACCEPTABLE, desc = "The work is seen, with or without a wait.")
	@Outcome(id = "0, .*", expect = Expect.FORBIDDEN, desc = "The permit is handed over, and the work is not seen.")
	@State
	public static class WorkIsSeenAfterHandOver {

		private final KeyedPermits<Integer> permits = new KeyedPermits<>();

		private final KeyedPermits<Integer>.Permit permit = acquire(this.permits);

		private int work;

		@Actor
		public void holder() {
			this.work = 1;
			this.permit.releaseWith(7);
		}

		@Actor
		public void next(II_Result result) {
			Integer brought = acquire(this.permits).brought();
			result.r1 = this.work;
			result.r2 = (brought != null) ? brought : 0;
		}

	}

	/**
	 * Leaves something for the next one, who takes it without having got the permit.
	 */
	@JCStressTest
	@Outcome(id = { "1, 7", "0, 0", "1, 0" }, expect = Expect.ACCEPTABLE, desc = "In order.")
	@Outcome(id = "0, 7", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Handed over, and the work is not seen.")
	@State
	public static class WorkIsSeenAfterHandOverControl {

		private int left;

		private int work;

		@Actor
		public void holder() {
			this.work = 1;
			this.left = 7;
		}

		@Actor
		public void next(II_Result result) {
			result.r2 = this.left;
			result.r1 = this.work;
		}

	}

}
