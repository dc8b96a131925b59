package io.github.holdfast.outage;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * A store answers a call just when a probe of it has failed.
 */
public final class StoreWatchStress {

	private static final String KEY = "key";

	private static final LockBackendException FAILURE = new LockBackendException(KEY, "has no answer", null);

	private StoreWatchStress() {
	}

	@JCStressTest
	@Outcome(id = "false, .*", expect = Expect.ACCEPTABLE, desc = "The answer came before the probe.")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The answer says more than the probe.")
	@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "A store that has just answered counts as down.")
	@State
	public static class AnAnswerSaysMoreThanAProbe {

		private volatile boolean asked;

		private final StoreWatch watch = new StoreWatch(new LockBackend() {

			@Override
			public @Nullable LockLease acquire(LockRequest request) {
				throw FAILURE;
			}

			@Override
			public Status probe(String key) {
				AnAnswerSaysMoreThanAProbe.this.asked = true;
				throw FAILURE;
			}

		});

		public AnAnswerSaysMoreThanAProbe() {
			this.watch.close();
			this.watch.failed(KEY, FAILURE);
		}

		@Actor
		public void probe() {
			this.watch.probe(KEY, Duration.ofSeconds(1));
		}

		@Actor
		public void call(ZZ_Result result) {
			result.r1 = this.asked;
			this.watch.answered();
		}

		@Arbiter
		public void end(ZZ_Result result) {
			result.r2 = this.watch.isDown();
		}

	}

	/**
	 * Looks whether there was an answer, and then takes the store for down.
	 */
	@JCStressTest
	@Outcome(id = "false, .*", expect = Expect.ACCEPTABLE, desc = "The answer came before the probe.")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The answer says more than the probe.")
	@Outcome(id = "true, true", expect = Expect.ACCEPTABLE_INTERESTING, desc = "It counts as down all the same.")
	@State
	public static class AnAnswerSaysMoreThanAProbeControl {

		private volatile boolean asked;

		private volatile boolean answered;

		private volatile boolean down;

		@Actor
		public void probe() {
			this.answered = false;
			this.asked = true;
			if (!this.answered) {
				this.down = true;
			}
		}

		@Actor
		public void call(ZZ_Result result) {
			result.r1 = this.asked;
			this.answered = true;
			this.down = false;
		}

		@Arbiter
		public void end(ZZ_Result result) {
			result.r2 = this.down;
		}

	}

}
