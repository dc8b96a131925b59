package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lab ends in mid-run, with a node that stands still, and leaves nothing behind.
 */
@Tag("long")
class LabEndTests {

	private static final Duration PATIENCE = LabClient.RUN_TIME;

	@TempDir
	private Path temporary;

	private Process process;

	private List<ProcessHandle> children = List.of();

	@AfterEach
	void end() {
		if (this.process != null) {
			this.process.destroyForcibly();
		}
		this.children.forEach(ProcessHandle::destroyForcibly);
	}

	@ParameterizedTest
	@ValueSource(strings = { "TERM", "KILL" })
	void leavesNothingBehind(String signal) throws IOException {
		Path folder = Files.createDirectory(this.temporary.resolve("tmp"));
		int port = LabServers.freePort();
		this.process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + folder, "-cp", System.getProperty("java.class.path"),
				LabApplication.class.getName(), "--server.port=" + port)
			.redirectErrorStream(true)
			.redirectOutput(this.temporary.resolve("log").toFile())
			.start();
		LabClient lab = new LabClient(port);
		Awaitility.await("start of the lab")
			.atMost(PATIENCE)
			.failFast(() -> !this.process.isAlive())
			.ignoreExceptions()
			.until(() -> lab.get("/info").contains("MariaDB"));
		String id = lab.start("""
				{"strategy": "redis-px-lua", "stock": 100000, "orders": 100000, "nodes": 2, "workMs": 20,
					"faults": [{"kind": "FREEZE", "atMs": 500, "millis": 60000}]}""");
		Awaitility.await("freeze").atMost(PATIENCE).until(() -> isFrozen(lab.find(id)));
		this.children = this.process.descendants().toList();
		assertThat(this.children).hasSizeGreaterThan(5);
		if (signal.equals("TERM")) {
			this.process.destroy();
		}
		else {
			this.process.destroyForcibly();
		}
		Awaitility.await("end of the lab").atMost(PATIENCE).until(() -> !this.process.isAlive());
		Awaitility.await("end of all its processes")
			.atMost(PATIENCE)
			.until(() -> this.children.stream().noneMatch(ProcessHandle::isAlive));
		Awaitility.await("removal of its folder")
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(foldersIn(folder)).isEmpty());
	}

	private static boolean isFrozen(Run.View run) {
		assertThat(run.state().isEnd()).isFalse();
		return run.nodes().stream().anyMatch((node) -> node.state() == LabNode.State.FROZEN);
	}

	/** An empty file of ZooKeeper's test server stays if the lab is killed. */
	private static List<Path> foldersIn(Path folder) throws IOException {
		try (Stream<Path> files = Files.list(folder)) {
			return files.filter(Files::isDirectory).toList();
		}
	}

}
