package io.github.holdfast.lab;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A node in a process of its own, that can be frozen, killed and started again. It ends
 * when the lab does.
 */
final class LabNode implements AutoCloseable {

	private static final AtomicInteger COUNTER = new AtomicInteger();

	private final int id;

	private final Path parent;

	private final List<String> arguments;

	private final Object life = new Object();

	private volatile Path folder;

	private volatile Process process;

	private volatile int port;

	private volatile State state = State.STARTING;

	private volatile boolean comesBack;

	private boolean closed;

	/** Start a node, without waiting for it. */
	LabNode(int id, Path parent, List<String> arguments) {
		this.id = id;
		this.parent = parent;
		this.arguments = arguments;
		this.folder = newFolder();
		this.process = launch();
	}

	private Path newFolder() {
		return this.parent.resolve("node-" + this.id + "-" + COUNTER.incrementAndGet());
	}

	private Process launch() {
		List<String> options = new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
				quoted("-Djava.io.tmpdir=" + this.folder), quoted("-Dportfile=" + this.folder.resolve("port"))));
		options.addAll(program());
		Path optionFile = this.folder.resolve("options");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "@" + optionFile,
						"--spring.profiles.active=lab-node", "--lab.node=" + this.id));
		command.addAll(this.arguments);
		try {
			Files.createDirectory(this.folder);
			Files.write(optionFile, options);
			return new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(this.folder.resolve("log").toFile())
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Node " + this.id + " did not start", ex);
		}
	}

	/** The same program as this one: the packaged lab, or its classes. */
	private static List<String> program() {
		String classPath = System.getProperty("java.class.path");
		String location = LabApplication.class.getProtectionDomain().getCodeSource().getLocation().toString();
		if (location.startsWith("jar:nested:")) {
			return List.of("-jar", quoted(new File(classPath).getAbsolutePath()));
		}
		return List.of("-cp", quoted(classPath), LabApplication.class.getName());
	}

	private static String quoted(String option) {
		return "\"" + option.replace("\\", "\\\\") + "\"";
	}

	/** Waits until it listens. */
	synchronized void awaitStart() throws IOException, InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(4);
		while (this.port == 0) {
			if (this.process.waitFor(20, TimeUnit.MILLISECONDS) || System.nanoTime() > deadline) {
				List<String> lines = Files.readAllLines(this.folder.resolve("log"))
					.stream()
					.filter((line) -> !line.startsWith("\t"))
					.toList();
				throw new IllegalStateException("Node " + this.id + " did not start: "
						+ String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size())));
			}
			Path portFile = this.folder.resolve("port");
			if (Files.exists(portFile) && Files.size(portFile) > 0) {
				this.port = Integer.parseInt(Files.readString(portFile).strip());
			}
		}
	}

	void up() {
		this.state = State.UP;
	}

	/** It stands still while something is done, unless it is killed meanwhile. */
	void freezeDuring(Runnable action) {
		this.state = State.FROZEN;
		try {
			action.run();
		}
		finally {
			if (this.state == State.FROZEN) {
				this.state = State.UP;
			}
		}
	}

	void comesBack() {
		this.comesBack = true;
	}

	void kill() {
		this.state = State.DEAD;
		this.process.destroyForcibly().onExit().join();
		this.port = 0;
	}

	/** Starts it again, without waiting for it, unless it was closed meanwhile. */
	void restart() {
		synchronized (this.life) {
			if (this.closed) {
				throw new IllegalStateException("Node " + this.id + " is not needed any more");
			}
			this.state = State.STARTING;
			this.folder = newFolder();
			this.process = launch();
		}
		this.comesBack = false;
	}

	int id() {
		return this.id;
	}

	/** How it is. Whoever kills it from outside does not say so. */
	State state() {
		State noted = this.state;
		return this.process.isAlive() ? noted : State.DEAD;
	}

	/** Whether it has died and nobody starts it again. */
	boolean hasDied() {
		return !this.comesBack && state() == State.DEAD;
	}

	String uri() {
		return "http://127.0.0.1:" + this.port;
	}

	View view() {
		return new View(this.id, this.process.pid(), this.port, state());
	}

	@Override
	public void close() {
		synchronized (this.life) {
			this.closed = true;
			kill();
		}
	}

	enum State {

		STARTING, UP, FROZEN, DEAD

	}

	/**
	 * A node, as it is shown.
	 *
	 * @param port where it listens; 0 as long as it starts
	 */
	record View(int id, long pid, int port, State state) {
	}

}
