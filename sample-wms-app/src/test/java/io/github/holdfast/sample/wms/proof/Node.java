package io.github.holdfast.sample.wms.proof;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;

import org.springframework.util.FileSystemUtils;

/**
 * The packaged application in a JVM of its own.
 */
final class Node implements AutoCloseable {

	private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+).*Started WmsApplication",
			Pattern.DOTALL);

	private final Process process;

	private final Path log;

	private final Thread shutdownHook;

	/** What a node that is killed cannot delete itself. */
	private final Path temporary;

	private Node(Process process, Path log, Path temporary) {
		this.process = process;
		this.log = log;
		this.temporary = temporary;
		this.shutdownHook = new Thread(process::destroyForcibly);
		Runtime.getRuntime().addShutdownHook(this.shutdownHook);
	}

	/**
	 * Starts a node; {@link #uri()} waits for it.
	 * @param name names the file with its output
	 * @param arguments what it is told on the command line
	 * @return the node
	 */
	static Node start(String name, List<String> arguments) throws IOException {
		Path logs = Files.createDirectories(Path.of(System.getProperty("wms.logs")));
		Path log = logs.resolve(name + ".log");
		Path temporary = Files.createTempDirectory(logs, name).toAbsolutePath();
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		String option = System.getProperty("wms.jvm-option");
		if (option != null) {
			command.add(option);
		}
		Collections.addAll(command, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
				"-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote", "-Djava.io.tmpdir=" + temporary);
		command.addAll(UnpackedJar.options());
		Collections.addAll(command, "--server.port=0", "--wms.stock-report.cron=-");
		command.addAll(arguments);
		return new Node(new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start(), log,
				temporary);
	}

	URI uri() {
		Matcher started = Awaitility.await("start of " + this.log)
			.atMost(Duration.ofMinutes(5))
			.failFast("The node has ended, see " + this.log, () -> !this.process.isAlive())
			.until(() -> STARTED.matcher(Files.readString(this.log)), Matcher::find);
		return URI.create("http://localhost:" + started.group(1));
	}

	/**
	 * Lets the node stand still, and waits until it does: on a busy machine it goes on
	 * for a while.
	 */
	void pause() throws IOException, InterruptedException {
		signal("STOP");
		Path state = Path.of("/proc", pid(), "stat");
		Awaitility.await().until(() -> Files.readString(state).contains(") T "));
	}

	/**
	 * Lets the node go on.
	 */
	void resume() throws IOException, InterruptedException {
		signal("CONT");
	}

	private void signal(String signal) throws IOException, InterruptedException {
		Process kill = new ProcessBuilder("kill", "-" + signal, pid()).start();
		if (kill.waitFor() != 0) {
			throw new IllegalStateException("The node got no signal " + signal);
		}
	}

	private String pid() {
		return String.valueOf(this.process.pid());
	}

	/**
	 * Kills the node without giving it time to clean up.
	 */
	void kill() {
		this.process.destroyForcibly();
	}

	@Override
	public void close() {
		this.process.destroyForcibly().onExit().join();
		FileSystemUtils.deleteRecursively(this.temporary.toFile());
		Runtime.getRuntime().removeShutdownHook(this.shutdownHook);
	}

}
