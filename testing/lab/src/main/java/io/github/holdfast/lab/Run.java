package io.github.holdfast.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.lab.strategy.OrderView;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * A run of one strategy, or of all of them one after the other.
 */
final class Run implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(Run.class);

	private final String id;

	private final RunRequest request;

	private final Lab lab;

	private final List<Trial> trials = new ArrayList<>();

	private final List<Fault> faults = new ArrayList<>();

	private final List<Result> results = new ArrayList<>();

	private List<LabNode.View> lastNodes = List.of();

	private State state = State.STARTING;

	private @Nullable Verdict verdict;

	private @Nullable String message;

	private @Nullable Thread thread;

	private boolean cancelled;

	Run(String id, RunRequest request, Lab lab) {
		this.id = id;
		this.request = request;
		this.lab = lab;
	}

	@Override
	public void run() {
		try {
			begin();
			for (StrategyType strategy : strategies()) {
				trial(strategy);
			}
			end(State.FINISHED, null);
		}
		catch (Exception ex) {
			fail(ex);
		}
	}

	private void fail(Exception ex) {
		if (isCancelled()) {
			end(State.CANCELLED, null);
		}
		else {
			logger.warn("Lab: run {} has failed", this.id, ex);
			end(State.FAILED, ex.getMessage());
		}
	}

	private synchronized void begin() throws InterruptedException {
		if (this.cancelled) {
			throw new InterruptedException();
		}
		this.thread = Thread.currentThread();
	}

	/** Those that need the same nodes follow each other. */
	private List<StrategyType> strategies() {
		return this.request.strategies()
			.stream()
			.sorted(Comparator.comparing((strategy) -> strategy.nodeProperties().toString()))
			.toList();
	}

	private void trial(StrategyType strategy) throws IOException, InterruptedException {
		Trial trial = new Trial(this.id, strategy, this.request, this.lab);
		starting(trial);
		this.lab.nodes().require(strategy, this.request.nodes());
		this.lab.nodes().awaitStart(strategy);
		Faults trialFaults = started(trial);
		try {
			trial.run(this.lab.nodes().all(), () -> this.request.faults().forEach(trialFaults::schedule));
		}
		finally {
			trialFaults.end(isCancelled());
		}
		finished(trial, trialFaults.happened());
	}

	private synchronized void starting(Trial trial) {
		trial.stock();
		this.state = State.STARTING;
		this.trials.add(trial);
	}

	/** What is interrupted while nodes start need not tell. */
	private synchronized Faults started(Trial trial) throws InterruptedException {
		if (this.cancelled) {
			throw new InterruptedException();
		}
		this.state = State.RUNNING;
		return new Faults(trial, this.lab, this::note);
	}

	private synchronized void note(Fault fault) {
		this.faults.add(fault);
	}

	private synchronized void finished(Trial trial, List<Fault> faults) {
		Verdict found = trial.verdict(faults);
		if (RunRequest.ALL.equals(this.request.strategy())) {
			this.results.add(new Result(trial.strategy().id(), trial.facts(), found));
		}
		else {
			this.verdict = found;
		}
	}

	private synchronized void end(State state, @Nullable String message) {
		this.thread = null;
		Thread.interrupted();
		this.lastNodes = this.lab.nodes().views();
		this.state = state;
		this.message = message;
	}

	synchronized void cancel() {
		this.cancelled = true;
		if (this.thread != null) {
			this.thread.interrupt();
		}
	}

	private synchronized boolean isCancelled() {
		return this.cancelled;
	}

	private Trial current() {
		return this.trials.get(this.trials.size() - 1);
	}

	synchronized boolean isOver() {
		return this.state.isEnd();
	}

	String id() {
		return this.id;
	}

	synchronized View view() {
		return new View(this.id, String.valueOf(this.request.strategy()), this.state, this.request,
				this.state.isEnd() ? this.lastNodes : this.lab.nodes().views(),
				this.trials.isEmpty() ? null : current().facts(), this.verdict, List.copyOf(this.faults),
				List.copyOf(this.results), this.message);
	}

	/** The orders that are answered. */
	List<OrderView> orders(@Nullable String strategy) {
		return trials(strategy).flatMap((trial) -> trial.orders().stream()).toList();
	}

	/** The first lost update, as far as the database knows. */
	Optional<Trial.LostUpdate> firstLostUpdate(@Nullable String strategy) {
		return trials(strategy).flatMap((trial) -> trial.firstLostUpdate().stream()).findFirst();
	}

	private synchronized Stream<Trial> trials(@Nullable String strategy) {
		return List.copyOf(this.trials)
			.stream()
			.filter((trial) -> strategy == null || trial.strategy().id().equals(strategy));
	}

	enum State {

		STARTING, RUNNING, FINISHED, FAILED, CANCELLED;

		boolean isEnd() {
			return this != STARTING && this != RUNNING;
		}

	}

	/**
	 * A run, as it is shown.
	 *
	 * @param facts what has come of it; with {@code all}, of the strategy that is going
	 * on
	 * @param results with {@code all}, what has come of each strategy
	 */
	record View(String id, String strategy, State state, RunRequest request, List<LabNode.View> nodes,
			Trial.@Nullable Facts facts, @Nullable Verdict verdict, List<Fault> faults, List<Result> results,
			@Nullable String message) {
	}

	/** What has come of one of several strategies. */
	record Result(String strategy, Trial.Facts facts, Verdict verdict) {
	}

}
