package io.github.holdfast.lab;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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

	private static final Duration START_TIME = Duration.ofMinutes(4);

	private final int id;

	private final Path parent;

	private final List<String> arguments;

	private volatile Process process;

	private volatile Path folder;

	private volatile int port;

	private volatile NodeView.State state = NodeView.State.STARTING;

	private volatile boolean comesBack;

	private final Object life = new Object();

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
		try {
			return Files.createDirectory(this.parent.resolve("node-" + this.id + "-" + COUNTER.incrementAndGet()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process launch() {
		List<String> options = new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
				quoted("-Djava.io.tmpdir=" + this.folder), quoted("-Dportfile=" + portFile())));
		options.addAll(program());
		Path optionFile = this.folder.resolve("options");
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.add("@" + optionFile);
		command.addAll(List.of("--spring.profiles.active=lab-node", "--lab.node=" + this.id));
		command.addAll(this.arguments);
		try {
			Files.write(optionFile, options);
			return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log().toFile()).start();
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

	private Path portFile() {
		return this.folder.resolve("port");
	}

	private Path log() {
		return this.folder.resolve("log");
	}

	/** Waits until it listens. */
	synchronized void awaitStart() throws IOException, InterruptedException {
		long deadline = System.nanoTime() + START_TIME.toNanos();
		while (this.port == 0) {
			if (!this.process.isAlive() || System.nanoTime() > deadline) {
				throw new IllegalStateException("Node " + this.id + " did not start: " + lastLines());
			}
			if (Files.exists(portFile()) && Files.size(portFile()) > 0) {
				this.port = Integer.parseInt(Files.readString(portFile()).strip());
			}
			else {
				TimeUnit.MILLISECONDS.sleep(20);
			}
		}
	}

	void up() {
		this.state = NodeView.State.UP;
	}

	private String lastLines() throws IOException {
		List<String> lines = Files.readAllLines(log()).stream().filter((line) -> !line.startsWith("\t")).toList();
		return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
	}

	/**
	 * Notes that it stands still as long as something is done, unless it is killed
	 * meanwhile.
	 */
	void freezeDuring(Runnable action) {
		this.state = NodeView.State.FROZEN;
		try {
			action.run();
		}
		finally {
			if (this.state == NodeView.State.FROZEN) {
				this.state = NodeView.State.UP;
			}
		}
	}

	void comesBack() {
		this.comesBack = true;
	}

	void kill() {
		this.state = NodeView.State.DEAD;
		this.process.destroyForcibly().onExit().join();
		this.port = 0;
	}

	/** Starts it again, without waiting for it, unless it was closed meanwhile. */
	void restart() {
		synchronized (this.life) {
			if (this.closed) {
				throw new IllegalStateException("Node " + this.id + " is not needed any more");
			}
			this.state = NodeView.State.STARTING;
			this.folder = newFolder();
			this.process = launch();
		}
		this.comesBack = false;
	}

	int id() {
		return this.id;
	}

	/** How it is. Whoever kills it from outside does not say so. */
	NodeView.State state() {
		NodeView.State noted = this.state;
		return this.process.isAlive() ? noted : NodeView.State.DEAD;
	}

	boolean isUp() {
		return state() == NodeView.State.UP;
	}

	/** Whether it has died and nobody starts it again. */
	boolean hasDied() {
		return !this.comesBack && state() == NodeView.State.DEAD;
	}

	String uri() {
		return "http://127.0.0.1:" + this.port;
	}

	NodeView view() {
		return new NodeView(this.id, this.process.pid(), this.port, state());
	}

	@Override
	public void close() {
		synchronized (this.life) {
			this.closed = true;
			kill();
		}
	}

	@Override
	public String toString() {
		return "node " + this.id;
	}

}
