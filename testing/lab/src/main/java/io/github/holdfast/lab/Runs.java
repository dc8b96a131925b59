package io.github.holdfast.lab;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import jakarta.annotation.PreDestroy;

/**
 * The runs, of which one is going on at a time. The last ones are kept in memory.
 */
final class Runs {

	private static final int MAX_KEPT = 20;

	private final Lab lab;

	private final Deque<Run> runs = new ArrayDeque<>();

	private final ExecutorService runner = Executors.newSingleThreadExecutor();

	private int count;

	Runs(Lab lab) {
		this.lab = lab;
	}

	synchronized Run start(RunRequest request) {
		if (!this.runs.isEmpty() && !this.runs.getFirst().isOver()) {
			throw LabException.runInProgress();
		}
		Run run = new Run(String.valueOf(++this.count), request, this.lab);
		this.runs.addFirst(run);
		if (this.runs.size() > MAX_KEPT) {
			this.runs.removeLast();
		}
		this.runner.execute(run);
		return run;
	}

	synchronized Run find(String id) {
		return this.runs.stream()
			.filter((run) -> run.id().equals(id))
			.findFirst()
			.orElseThrow(() -> LabException.unknownRun(id));
	}

	synchronized List<Run> all() {
		return new ArrayList<>(this.runs);
	}

	@PreDestroy
	void close() throws InterruptedException {
		all().forEach(Run::cancel);
		this.runner.shutdown();
		this.runner.awaitTermination(10, TimeUnit.SECONDS);
	}

}
