package io.github.holdfast.store.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * Two of three nodes agree at the same time, and the third one does not answer.
 */
public final class VotesStress {

	private VotesStress() {
	}

	@JCStressTest
	@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "Two of three are a majority.")
	@Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "A vote is lost, so that there is no majority.")
	@State
	public static class EachVoteCounts {

		private final CompletableFuture<Boolean> one = new CompletableFuture<>();

		private final CompletableFuture<Boolean> two = new CompletableFuture<>();

		private final Votes votes = Votes.count(List.of(this.one, this.two, new CompletableFuture<Boolean>()),
				Boolean::booleanValue);

		@Actor
		public void nodeOne() {
			this.one.complete(true);
		}

		@Actor
		public void nodeTwo() {
			this.two.complete(true);
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.votes.decision().getNow(false);
		}

	}

	/**
	 * Counts with a volatile field.
	 */
	@JCStressTest
	@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "Two of three are a majority.")
	@Outcome(id = "false", expect = Expect.ACCEPTABLE_INTERESTING, desc = "A vote is lost.")
	@State
	public static class EachVoteCountsControl {

		private volatile int yes;

		@Actor
		public void nodeOne() {
			vote();
		}

		@Actor
		public void nodeTwo() {
			vote();
		}

		private void vote() {
			int yes = this.yes;
			this.yes = yes + 1;
		}

		@Arbiter
		public void end(Z_Result result) {
			result.r1 = this.yes == 2;
		}

	}

}
