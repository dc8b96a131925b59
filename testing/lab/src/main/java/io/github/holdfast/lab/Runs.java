package io.github.holdfast.lab;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The runs, of which one is going on at a time. The last ones are kept in memory.
 */
final class Runs implements AutoCloseable {

	private static final int MAX_KEPT = 20;

	private static final int STOP_SECONDS = 10;

	private final Lab lab;

	private final Deque<Run> runs = new ArrayDeque<>();

	private final ExecutorService runner = Executors.newSingleThreadExecutor();

	private int count;

	Runs(Lab lab) {
		this.lab = lab;
	}

	synchronized Optional<Run> start(RunRequest request) {
		if (!this.runs.isEmpty() && !this.runs.getFirst().isOver()) {
			return Optional.empty();
		}
		Run run = new Run(String.valueOf(++this.count), request, this.lab);
		this.runs.addFirst(run);
		if (this.runs.size() > MAX_KEPT) {
			this.runs.removeLast();
		}
		this.runner.execute(run);
		return Optional.of(run);
	}

	synchronized Optional<Run> find(String id) {
		return this.runs.stream().filter((run) -> run.id().equals(id)).findFirst();
	}

	synchronized List<Run> all() {
		return new ArrayList<>(this.runs);
	}

	@Override
	public void close() {
		all().forEach(Run::cancel);
		this.runner.shutdown();
		try {
			this.runner.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
