package io.github.holdfast.benchmarks.contended;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The JVM of a {@link Worker}, seen from outside.
 */
final class WorkerJvm implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 120;

	private static final String EXITED = "";

	private final Process process;

	private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

	private WorkerJvm(Process process) {
		this.process = process;
		new Thread(this::read).start();
	}

	/**
	 * Start a worker.
	 * @param earlier the class path of an earlier build of this module, or {@code null}
	 * for this build
	 * @param args the arguments of the worker
	 */
	static WorkerJvm start(@Nullable String earlier, List<String> args) throws IOException {
		String classPath = System.getProperty("java.class.path");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
						(earlier != null) ? earlier : classPath, Worker.class.getName()));
		command.addAll(args);
		return new WorkerJvm(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
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
		if (answer == null) {
			throw new IllegalStateException("A worker does not answer");
		}
		if (answer.equals(EXITED)) {
			throw new IllegalStateException("A worker has failed");
		}
		return answer;
	}

	void expect(String expected) throws InterruptedException {
		String answer = answer();
		Assert.state(expected.equals(answer), () -> "A worker answers " + answer + " instead of " + expected);
	}

	/**
	 * Tell it to go on when it has done the last thing.
	 */
	void tell(String order) {
		new PrintStream(this.process.getOutputStream(), true, StandardCharsets.UTF_8).println(order);
	}

	@Override
	public void close() {
		this.process.destroyForcibly().onExit().join();
	}

}
