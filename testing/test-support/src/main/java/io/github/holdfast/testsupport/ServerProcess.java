package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/** A process of a server, and its folder. Both go when it is closed or this JVM exits. */
final class ServerProcess implements AutoCloseable {

	private final Path directory;

	private final Thread hook = new Thread(this::end, "server stop");

	private @Nullable Process process;

	ServerProcess(String name, @Nullable Path parent, FileAttribute<?>... attributes) {
		try {
			String prefix = "holdfast-" + name + "-";
			this.directory = (parent != null) ? Files.createTempDirectory(parent, prefix, attributes)
					: Files.createTempDirectory(prefix, attributes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Runtime.getRuntime().addShutdownHook(this.hook);
	}

	Path file(String name) {
		return this.directory.resolve(name);
	}

	void start(List<String> command, Map<String, String> environment) {
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(file("log").toFile()));
		builder.environment().putAll(environment);
		try {
			this.process = builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process process() {
		if (this.process == null) {
			throw new IllegalStateException("The server was not started");
		}
		return this.process;
	}

	long pid() {
		return process().pid();
	}

	boolean isAlive() {
		return process().isAlive();
	}

	void kill() {
		process().destroyForcibly().onExit().join();
	}

	void signal(String name) {
		signal(pid(), name);
	}

	static void signal(long pid, String name) {
		try {
			int status = new ProcessBuilder("kill", "-" + name, String.valueOf(pid)).start().waitFor();
			if (status != 0) {
				throw new IllegalStateException("Process " + pid + " did not take SIG" + name);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	String log() {
		try {
			return Files.readString(file("log"));
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

	@Override
	public void close() {
		end();
		Runtime.getRuntime().removeShutdownHook(this.hook);
	}

	private void end() {
		if (this.process != null) {
			kill();
		}
		delete(this.directory);
	}

	/** Looks every millisecond whether a state is there, whatever interrupts say. */
	static boolean awaitState(BooleanSupplier state, Duration atMost) {
		long deadline = System.nanoTime() + atMost.toNanos();
		boolean interrupted = false;
		boolean there = state.getAsBoolean();
		while (!there && System.nanoTime() < deadline) {
			try {
				Thread.sleep(1);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
			there = state.getAsBoolean();
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		return there;
	}

	static void delete(Path file) {
		try {
			FileSystemUtils.deleteRecursively(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
