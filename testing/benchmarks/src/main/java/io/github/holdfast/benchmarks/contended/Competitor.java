package io.github.holdfast.benchmarks.contended;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.springframework.util.Assert;

import io.github.holdfast.benchmarks.Contender;
import io.github.holdfast.benchmarks.contended.Load.LoadResult;

/** One contender in one scenario, in JVMs of its own, which live until the last round. */
final class Competitor implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 120;

	private static final String EXITED = "";

	private final Contender contender;

	private final Path counter;

	private final List<WorkerJvm> workers = new ArrayList<>();

	private long calls;

	private Competitor(Contender contender, Path counter) {
		this.contender = contender;
		this.counter = counter;
	}

	static Competitor start(Scenario scenario, Contender contender, Duration warmUp, Duration measured,
			List<String> stores) throws IOException, InterruptedException {
		Competitor competitor = new Competitor(contender, Files.createTempFile("benchmark", ".counter"));
		try {
			Files.write(competitor.counter, new byte[Long.BYTES]);
			List<String> command = new ArrayList<>(
					List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
							System.getProperty("java.class.path"), Worker.class.getName(), scenario.name(),
							contender.name(), Long.toString(warmUp.toMillis()), Long.toString(measured.toMillis()),
							competitor.counter.toString()));
			command.addAll(stores);
			for (int i = 0; i < scenario.jvms(); i++) {
				competitor.workers.add(new WorkerJvm(
						new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start()));
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

	/** Let the workers go on when all of them are ready for it. */
	private void together(String order) throws InterruptedException {
		for (WorkerJvm worker : this.workers) {
			String answer = worker.answer();
			Assert.state(order.equals(answer), () -> "A worker answers " + answer + " instead of " + order);
		}
		this.workers.forEach((worker) -> worker.tell(order));
	}

	@Override
	public void close() throws IOException {
		this.workers.forEach((worker) -> worker.process.destroyForcibly().onExit().join());
		Files.deleteIfExists(this.counter);
	}

	private static final class WorkerJvm {

		private final Process process;

		private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

		WorkerJvm(Process process) {
			this.process = process;
			new Thread(this::read).start();
		}

		private void read() {
			try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
				String line;
				while ((line = lines.readLine()) != null) {
					if (line.startsWith(Worker.ANSWER)) {
						this.answers.add(line.substring(Worker.ANSWER.length()));
					}
					else {
						System.err.println(line);
					}
				}
			}
			catch (IOException ex) {
				// It was stopped
			}
			this.answers.add(EXITED);
		}

		String answer() throws InterruptedException {
			String answer = this.answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
			Assert.state(answer != null, "A worker does not answer");
			Assert.state(!answer.equals(EXITED), "A worker has failed");
			return answer;
		}

		/** Tell it to go on when it has done the last thing. */
		void tell(String order) {
			new PrintStream(this.process.getOutputStream(), true, StandardCharsets.UTF_8).println(order);
		}

	}

}
