package io.github.holdfast.core;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * The last call ends just when the application begins to shut down. Each of the two
 * writes one field and reads that of the other.
 */
public final class LockEngineStress {

	private LockEngineStress() {
	}

	@JCStressTest
	@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "One of them has told that all locks are released.")
	@Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "The shutdown waits for nothing.")
	@State
	public static class DrainIsToldOfTheLastCall {

		private final LockEngine engine = new LockEngine(() -> {
			throw new UnsupportedOperationException();
		}, (name) -> null, List::of);

		private CompletableFuture<Void> drained = new CompletableFuture<>();

		public DrainIsToldOfTheLastCall() {
			this.engine.callBegins();
		}

		@Actor
		public void call() {
			this.engine.callEnded();
		}

		@Actor
		public void shutdown() {
			this.drained = this.engine.drain().toCompletableFuture();
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.drained.isDone();
		}

	}

	/**
	 * The shutdown is noted in a field that is not volatile.
	 */
	@JCStressTest
	@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "One of them has told that all locks are released.")
	@Outcome(id = "false", expect = Expect.ACCEPTABLE_INTERESTING, desc = "The shutdown waits for nothing.")
	@State
	public static class DrainIsToldOfTheLastCallControl {

		private final AtomicInteger calls = new AtomicInteger(1);

		private boolean draining;

		private volatile boolean drained;

		@Actor
		public void call() {
			this.calls.decrementAndGet();
			completeIfDrained();
		}

		@Actor
		public void shutdown() {
			this.draining = true;
			completeIfDrained();
		}

		private void completeIfDrained() {
			if (this.draining && this.calls.get() == 0) {
				this.drained = true;
			}
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.drained;
		}

	}

}
