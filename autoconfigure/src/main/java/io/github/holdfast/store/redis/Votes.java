package io.github.holdfast.store.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The answers of an odd number of nodes to one request.
 */
final class Votes {

	private final CompletableFuture<Boolean> decision = new CompletableFuture<>();

	private final int majority;

	private int yes;

	private int no;

	private int failed;

	private Votes(int nodes) {
		this.majority = nodes / 2 + 1;
	}

	/**
	 * Count answers as they arrive.
	 * @return whether a majority says yes; fails if a majority fails
	 */
	static CompletableFuture<Boolean> count(List<CompletableFuture<List<Object>>> answers,
			Predicate<List<Object>> yes) {
		Votes votes = new Votes(answers.size());
		answers.forEach((answer) -> answer.whenComplete((value, ex) -> votes.add(ex == null && yes.test(value), ex)));
		return votes.decision;
	}

	private synchronized void add(boolean inFavour, @Nullable Throwable failure) {
		this.yes += inFavour ? 1 : 0;
		this.failed += (failure != null) ? 1 : 0;
		this.no += (inFavour || failure != null) ? 0 : 1;
		if (this.yes >= this.majority) {
			this.decision.complete(true);
		}
		else if (failure != null && this.failed >= this.majority) {
			this.decision.completeExceptionally(failure);
		}
		else if (this.yes + this.no >= this.majority && this.no + this.failed >= this.majority) {
			this.decision.complete(false);
		}
	}

}
