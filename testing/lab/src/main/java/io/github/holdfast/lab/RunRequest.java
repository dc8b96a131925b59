package io.github.holdfast.lab;

import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.StrategyType;

/**
 * What a run is to do. What is left out gets a default.
 *
 * @param ratePerSecond how many of them are sent in a second; without it, the next one is
 * sent as soon as one was answered
 * @param workMs how long each of them has something to do between reading and writing
 * @param skus how many SKUs share the stock; orders take them in turn
 * @param quantities how many pieces the orders take in turn, if not all take the same
 * @param faults what is to be done to the run; with {@code all}, to each strategy
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record RunRequest(@Nullable String strategy, @Nullable Integer stock, @Nullable Integer orders,
		@Nullable Integer concurrency, @Nullable Integer nodes, @Nullable Integer quantity,
		@Nullable Integer ratePerSecond, @Nullable Integer workMs, @Nullable Integer skus,
		@Nullable List<Integer> quantities, @Nullable List<Fault.Request> faults) {

	/** Stands for all strategies, one after the other. */
	static final String ALL = "all";

	static final Limits LIMITS = new Limits(4, 100_000, 200, 1_000_000);

	RunRequest {
		stock = (stock != null) ? stock : 100;
		orders = (orders != null) ? orders : 200;
		concurrency = (concurrency != null) ? concurrency : 20;
		nodes = (nodes != null) ? nodes : 2;
		quantity = (quantity != null) ? quantity : 1;
		workMs = (workMs != null) ? workMs : 2;
		skus = (skus != null) ? skus : 1;
		faults = (faults != null) ? List.copyOf(faults) : List.of();
	}

	List<FieldProblem> problems() {
		List<FieldProblem> problems = new ArrayList<>();
		if (strategies().isEmpty()) {
			problems.add(new FieldProblem("strategy", "must be one of the strategies, or 'all'"));
		}
		check("stock", this.stock, 0, LIMITS.stock(), problems);
		check("orders", this.orders, 1, LIMITS.orders(), problems);
		check("concurrency", this.concurrency, 1, LIMITS.concurrency(), problems);
		check("nodes", this.nodes, 1, LIMITS.nodes(), problems);
		check("quantity", this.quantity, 1, 1_000, problems);
		List<Integer> each = (this.quantities != null) ? this.quantities : List.of(1);
		check("quantities", each.size(), 1, 100, problems);
		each.forEach((quantity) -> check("quantities", quantity, 1, 1_000, problems));
		check("ratePerSecond", this.ratePerSecond, 1, 1_000, problems);
		check("workMs", this.workMs, 0, 5_000, problems);
		check("skus", this.skus, 1, 100, problems);
		if (this.faults.size() > 20) {
			problems.add(new FieldProblem("faults", "must be 20 at most"));
		}
		for (int i = 0; i < this.faults.size(); i++) {
			this.faults.get(i).check(this.nodes, "faults[" + i + "].", problems);
		}
		return problems;
	}

	int quantityOf(int order) {
		return (this.quantities != null) ? this.quantities.get((order - 1) % this.quantities.size()) : this.quantity;
	}

	static void check(String field, @Nullable Integer value, int min, int max, List<FieldProblem> problems) {
		if (value != null && (value < min || value > max)) {
			problems.add(new FieldProblem(field, "must be a whole number from " + min + " to " + max));
		}
	}

	List<StrategyType> strategies() {
		return ALL.equals(this.strategy) ? List.of(StrategyType.values())
				: StrategyType.of(String.valueOf(this.strategy)).stream().toList();
	}

	record FieldProblem(String field, String message) {
	}

	record Limits(int nodes, int orders, int concurrency, int stock) {
	}

}
