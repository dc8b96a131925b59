package io.github.holdfast.benchmarks.contended;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

import io.github.holdfast.benchmarks.contender.Contender;

/**
 * One contender in one scenario, in JVMs of its own, which live until the last round and
 * do nothing while others are measured.
 */
final class Competitor implements AutoCloseable {

	private final Contender contender;

	private final Path counter;

	private final List<WorkerJvm> workers = new ArrayList<>();

	private long calls;

	private Competitor(Contender contender, Path counter) {
		this.contender = contender;
		this.counter = counter;
	}

	/**
	 * Start the JVMs and warm them up.
	 * @param scenario the scenario
	 * @param contender the contender
	 * @param warmUp how long to warm up
	 * @param measured how long each round is measured
	 * @param stores how workers find the servers
	 * @param earlier the class path of an earlier build of this module, or {@code null}
	 * for this build
	 * @return the competitor
	 * @throws IOException if a worker cannot be started
	 * @throws InterruptedException if interrupted
	 * @throws IllegalStateException if a worker has failed or an update was lost
	 */
	static Competitor start(Scenario scenario, Contender contender, Duration warmUp, Duration measured,
			List<String> stores, @Nullable String earlier) throws IOException, InterruptedException {
		Competitor competitor = new Competitor(contender, Files.createTempFile("benchmark", ".counter"));
		try {
			Files.write(competitor.counter, new byte[Long.BYTES]);
			List<String> args = new ArrayList<>(
					List.of(scenario.workers(), contender.name(), Long.toString(warmUp.toMillis()),
							Long.toString(measured.toMillis()), competitor.counter.toString()));
			args.addAll(stores);
			for (int i = 0; i < scenario.jvms(); i++) {
				competitor.workers.add(WorkerJvm.start(earlier, args));
			}
			competitor.together("warm up");
			competitor.round();
			competitor.round();
			return competitor;
		}
		catch (IOException | InterruptedException | RuntimeException ex) {
			competitor.close();
			throw ex;
		}
	}

	Contender contender() {
		return this.contender;
	}

	/**
	 * Measure one round.
	 * @return what the workers have done
	 * @throws InterruptedException if interrupted
	 * @throws IllegalStateException if a worker has failed or an update was lost
	 */
	RoundResult round() throws InterruptedException {
		together("start");
		together("end");
		together("check");
		List<LoadResult> results = new ArrayList<>();
		long updates = 0;
		for (WorkerJvm worker : this.workers) {
			updates = Long.parseLong(worker.answer());
			results.add(LoadResult.parse(worker.answer()));
		}
		this.calls += results.stream().mapToLong(LoadResult::calls).sum();
		long lost = this.calls - updates;
		Assert.state(lost == 0, () -> "Updates were lost: " + lost);
		return RoundResult.of(results);
	}

	/**
	 * Let the workers go on when all of them are ready for it.
	 */
	private void together(String order) throws InterruptedException {
		for (WorkerJvm worker : this.workers) {
			worker.expect(order);
		}
		this.workers.forEach((worker) -> worker.tell(order));
	}

	@Override
	public void close() throws IOException {
		this.workers.forEach(WorkerJvm::close);
		Files.deleteIfExists(this.counter);
	}

}
