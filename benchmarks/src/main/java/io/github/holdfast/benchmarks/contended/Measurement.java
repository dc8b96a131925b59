package io.github.holdfast.benchmarks.contended;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.springframework.util.Assert;

import io.github.holdfast.benchmarks.contender.Contender;

/**
 * Measures one contender in one scenario, in JVMs of its own.
 *
 * @param warmUp how long is not measured first
 * @param measured how long is measured
 * @param stores how workers find the servers
 */
record Measurement(Duration warmUp, Duration measured, List<String> stores) {

	/**
	 * Measure.
	 * @param scenario the scenario
	 * @param contender the contender
	 * @return what the workers have done
	 * @throws IOException if a worker cannot be started
	 * @throws InterruptedException if interrupted
	 * @throws IllegalStateException if a worker has failed or an update was lost
	 */
	RoundResult of(Scenario scenario, Contender contender) throws IOException, InterruptedException {
		Path counter = Files.createTempFile("benchmark", ".counter");
		List<WorkerJvm> workers = new ArrayList<>();
		try {
			Files.write(counter, new byte[Long.BYTES]);
			for (int i = 0; i < scenario.jvms(); i++) {
				workers.add(WorkerJvm.start(args(scenario, contender, counter)));
			}
			return run(workers);
		}
		finally {
			workers.forEach(WorkerJvm::close);
			Files.delete(counter);
		}
	}

	private List<String> args(Scenario scenario, Contender contender, Path counter) {
		List<String> args = new ArrayList<>(List.of(scenario.name(), contender.name(),
				Long.toString(this.warmUp.toMillis()), Long.toString(this.measured.toMillis()), counter.toString()));
		args.addAll(this.stores);
		return args;
	}

	private RoundResult run(List<WorkerJvm> workers) throws InterruptedException {
		for (String order : List.of("start", "end", "check")) {
			for (WorkerJvm worker : workers) {
				worker.expect(order);
			}
			workers.forEach((worker) -> worker.tell(order));
		}
		List<LoadResult> results = new ArrayList<>();
		long updates = 0;
		for (WorkerJvm worker : workers) {
			updates = Long.parseLong(worker.answer());
			results.add(LoadResult.parse(worker.answer()));
		}
		long lost = results.stream().mapToLong(LoadResult::calls).sum() - updates;
		Assert.state(lost == 0, () -> "Updates were lost: " + lost);
		return RoundResult.of(results);
	}

}
