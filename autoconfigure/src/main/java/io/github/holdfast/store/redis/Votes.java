package io.github.holdfast.store.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The answers of an odd number of nodes to one request, counted as they arrive.
 */
final class Votes {

	private final int majority;

	private final boolean splitIsNo;

	private final CompletableFuture<Boolean> decision = new CompletableFuture<>();

	private int yes;

	private int no;

	private int failed;

	private Votes(int nodes, boolean splitIsNo) {
		this.majority = nodes / 2 + 1;
		this.splitIsNo = splitIsNo;
	}

	/**
	 * Count answers until a majority says yes, or can no longer do so.
	 * @param splitIsNo whether the decision is no if neither side has a majority because
	 * nodes failed; otherwise it fails
	 */
	static CompletableFuture<Boolean> count(List<CompletableFuture<List<Object>>> answers,
			Predicate<List<Object>> yes, boolean splitIsNo) {
		Votes votes = new Votes(answers.size(), splitIsNo);
		answers.forEach(
				(answer) -> answer.whenComplete((value, ex) -> votes.add(ex == null && yes.test(value), ex)));
		return votes.decision;
	}

	private synchronized void add(boolean inFavour, @Nullable Throwable failure) {
		if (failure != null) {
			this.failed++;
		}
		else if (inFavour) {
			this.yes++;
		}
		else {
			this.no++;
		}
		boolean split = this.yes + this.no >= this.majority && this.no + this.failed >= this.majority;
		if (this.yes >= this.majority) {
			this.decision.complete(true);
		}
		else if (this.no >= this.majority || (split && this.splitIsNo)) {
			this.decision.complete(false);
		}
		else if (failure != null && (split || this.failed >= this.majority)) {
			this.decision.completeExceptionally(failure);
		}
	}

}
