package io.github.holdfast.testsupport;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.springframework.util.FileSystemUtils;

/**
 * Another JVM with the class path of this one, that can be paused and killed. Both sides
 * talk in lines: {@link #send} writes to its standard input, {@link #await} reads from
 * its standard output. Its standard error goes to a file below {@code target/child-jvm}.
 *
 * <p>
 * It is killed when it is closed or this JVM exits. Should this JVM be killed itself, its
 * standard input ends: a main class should exit then, and does so if it uses nothing but
 * a loop over its input.
 */
public final class ChildJvm implements AutoCloseable {

	private static final Path DIRECTORY = Path.of("target", "child-jvm");

	private static final AtomicInteger COUNTER = new AtomicInteger();

	private static final Duration SIGNAL_TIME = Duration.ofSeconds(10);

	private final Process process;

	private final Path errors;

	private final Path argFile;

	/** What one that is killed cannot delete itself. */
	private final Path temporary;

	private final BufferedWriter input;

	private final List<String> lines = new ArrayList<>();

	private final Thread hook;

	private boolean ended;

	private ChildJvm(Process process, Path errors, Path argFile, Path temporary) {
		this.process = process;
		this.errors = errors;
		this.argFile = argFile;
		this.temporary = temporary;
		this.input = process.outputWriter(StandardCharsets.UTF_8);
		this.hook = new Thread(process::destroyForcibly, "child-jvm-kill");
		Runtime.getRuntime().addShutdownHook(this.hook);
		Thread reader = new Thread(this::read, "child-jvm-" + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	public static ChildJvm start(Class<?> main, String... args) {
		return start(List.of(), main, args);
	}

	public static ChildJvm start(List<String> options, Class<?> main, String... args) {
		String name = main.getSimpleName() + "-" + ProcessHandle.current().pid() + "-" + COUNTER.incrementAndGet();
		Path errors = DIRECTORY.resolve(name + ".err");
		Path argFile = DIRECTORY.resolve(name + ".args");
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.add("@" + argFile);
		command.addAll(options);
		command.add(main.getName());
		command.addAll(List.of(args));
		try {
			Path temporary = Files.createDirectories(DIRECTORY.resolve(name + ".tmp"));
			Files.write(argFile, options(temporary));
			Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
			return new ChildJvm(process, errors, argFile, temporary);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<String> options(Path temporary) {
		return List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions",
				"-XX:-BytecodeVerificationRemote", "-Dstdout.encoding=UTF-8", "-Dfile.encoding=UTF-8",
				quoted("-Djava.io.tmpdir=" + temporary.toAbsolutePath()), "-cp",
				quoted(System.getProperty("java.class.path")));
	}

	private static String quoted(String option) {
		return "\"" + option.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
	}

	public long pid() {
		return this.process.pid();
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	public void send(String line) {
		try {
			this.input.write(line);
			this.input.newLine();
			this.input.flush();
		}
		catch (IOException ex) {
			throw new IllegalStateException(failure("cannot read '" + line + "'"), ex);
		}
	}

	/** Waits for a line on standard output. Those with other prefixes stay for later. */
	public synchronized String await(String prefix, Duration timeout) throws InterruptedException {
		long deadline = System.nanoTime() + timeout.toNanos();
		while (true) {
			Optional<String> line = poll(prefix);
			if (line.isPresent()) {
				return line.get();
			}
			long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
			if (this.ended || left <= 0) {
				throw new AssertionError(failure("has not written '" + prefix + "'"));
			}
			wait(left);
		}
	}

	public synchronized Optional<String> poll(String prefix) {
		for (int i = 0; i < this.lines.size(); i++) {
			if (this.lines.get(i).startsWith(prefix)) {
				return Optional.of(this.lines.remove(i).substring(prefix.length()));
			}
		}
		return Optional.empty();
	}

	public void pause() {
		ServerProcess.signal(pid(), "STOP");
		awaitState("paused", () -> state() == 'T');
	}

	public void resume() {
		ServerProcess.signal(pid(), "CONT");
		awaitState("resumed", () -> state() != 'T');
	}

	public void kill() {
		this.process.destroyForcibly();
		awaitState("killed", () -> !this.process.isAlive());
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.hook);
		try {
			Files.deleteIfExists(this.argFile);
			FileSystemUtils.deleteRecursively(this.temporary);
			if (Files.size(this.errors) == 0) {
				Files.delete(this.errors);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void read() {
		try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				add(line);
			}
		}
		catch (IOException ex) {
			// The process was killed
		}
		end();
	}

	private synchronized void add(String line) {
		this.lines.add(line);
		notifyAll();
	}

	private synchronized void end() {
		this.ended = true;
		notifyAll();
	}

	/** A signal is only on its way when {@code kill} returns. */
	private void awaitState(String name, BooleanSupplier state) {
		if (!ServerProcess.awaitState(state, SIGNAL_TIME)) {
			throw new IllegalStateException(failure("is not " + name));
		}
	}

	char state() {
		try {
			Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(pid())).start();
			String state = new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
			return state.isEmpty() ? '-' : state.charAt(0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private synchronized String failure(String what) {
		return "Child JVM " + pid() + " " + what + "; alive: " + isAlive() + ", output: " + this.lines + ", errors: "
				+ errors();
	}

	private String errors() {
		try {
			return Files.readString(this.errors);
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
