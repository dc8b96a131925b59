package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

import io.github.holdfast.LockRequest;

/**
 * The lease of a store that is renewed, found to be given back, and released by threads
 * that meet.
 */
public final class ExpiringLeaseStress {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final LockRequest REQUEST = new LockRequest("key", "lock", LockRequest.Mode.EXCLUSIVE, false,
			Duration.ZERO, LEASE, "owner", "holder", 0);

	private ExpiringLeaseStress() {
	}

	@JCStressTest
	@Outcome(id = ".*, false", expect = Expect.ACCEPTABLE, desc = "What was released is not valid.")
	@Outcome(id = ".*, true", expect = Expect.FORBIDDEN, desc = "A renewal has made it valid again.")
	@State
	public static class RenewalAgainstRelease {

		private final Lease lease = new Lease();

		@Actor
		public void renewal(ZZ_Result result) {
			result.r1 = this.lease.renew(LEASE);
		}

		@Actor
		public void holder() {
			this.lease.release();
		}

		@Arbiter
		public void end(ZZ_Result result) {
			result.r2 = this.lease.isValid();
		}

	}

	/**
	 * Ends by its deadline only, which a renewal replaces.
	 */
	@JCStressTest
	@Outcome(id = ".*, false", expect = Expect.ACCEPTABLE, desc = "What was released is not valid.")
	@Outcome(id = ".*, true", expect = Expect.ACCEPTABLE_INTERESTING, desc = "A renewal has made it valid again.")
	@State
	public static class RenewalAgainstReleaseControl {

		private volatile Deadline deadline = Deadline.ofLease(LEASE);

		@Actor
		public void renewal(ZZ_Result result) {
			if (!this.deadline.hasPassed()) {
				this.deadline = Deadline.ofLease(LEASE);
				result.r1 = true;
			}
		}

		@Actor
		public void holder() {
			this.deadline = Deadline.PASSED;
		}

		@Arbiter
		public void end(ZZ_Result result) {
			result.r2 = !this.deadline.hasPassed();
		}

	}

	@JCStressTest
	@Outcome(id = "true, 0", expect = Expect.ACCEPTABLE, desc = "It was given back before.")
	@Outcome(id = "false, [01]", expect = Expect.ACCEPTABLE, desc = "It may have been ours.")
	@Outcome(id = "true, 1", expect = Expect.FORBIDDEN, desc = "What was seen to be over is given back again.")
	@State
	public static class GivenBackOnce {

		private final Lease lease = new Lease();

		@Actor
		public void client() {
			this.lease.foundGivenBack();
		}

		@Actor
		public void holder(ZI_Result result) {
			result.r1 = !this.lease.isValid();
			this.lease.release();
			result.r2 = this.lease.gaveBack.get();
		}

	}

	/**
	 * Notes that it has ended before it notes why.
	 */
	@JCStressTest
	@Outcome(id = "true, 0", expect = Expect.ACCEPTABLE, desc = "It was given back before.")
	@Outcome(id = "false, [01]", expect = Expect.ACCEPTABLE, desc = "It may have been ours.")
	@Outcome(id = "true, 1", expect = Expect.ACCEPTABLE_INTERESTING, desc = "It is given back again.")
	@State
	public static class GivenBackOnceControl {

		private volatile boolean ended;

		private volatile boolean givenBack;

		@Actor
		public void client() {
			this.ended = true;
			this.givenBack = true;
		}

		@Actor
		public void holder(ZI_Result result) {
			result.r1 = this.ended;
			result.r2 = this.givenBack ? 0 : 1;
		}

	}

	private static final class Lease extends ExpiringLease {

		private final AtomicInteger gaveBack = new AtomicInteger();

		private Lease() {
			super(REQUEST, 1, Deadline.ofLease(LEASE));
		}

		@Override
		protected CompletionStage<Boolean> extend(Duration leaseTime) {
			return CompletableFuture.completedStage(true);
		}

		@Override
		protected CompletionStage<Boolean> giveBack() {
			this.gaveBack.incrementAndGet();
			return CompletableFuture.completedStage(true);
		}

		private void foundGivenBack() {
			givenBack();
		}

	}

}
