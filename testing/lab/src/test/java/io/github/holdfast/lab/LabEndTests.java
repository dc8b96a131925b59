package io.github.holdfast.lab;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The lab ends in mid-run, with a node that stands still, and leaves nothing behind. */
@Tag("long")
class LabEndTests {

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
		await("start of the lab").failFast(() -> !this.process.isAlive())
			.ignoreExceptions()
			.until(() -> lab.get("/info").contains("MariaDB"));
		String id = lab.start("""
				{"strategy": "redis-px-lua", "stock": 100000, "orders": 100000, "nodes": 2, "workMs": 20,
					"faults": [{"kind": "FREEZE", "atMs": 500, "millis": 60000}]}""");
		await("freeze").until(() -> isFrozen(lab.find(id)));
		this.children = this.process.descendants().toList();
		assertThat(this.children).hasSizeGreaterThan(5);
		if (signal.equals("TERM")) {
			this.process.destroy();
		}
		else {
			this.process.destroyForcibly();
		}
		await("end of the lab").until(() -> !this.process.isAlive());
		await("end of all its processes").until(() -> this.children.stream().noneMatch(ProcessHandle::isAlive));
		await("removal of its folder")
			.untilAsserted(() -> assertThat(folder.toFile().listFiles(File::isDirectory)).isEmpty());
	}

	private static ConditionFactory await(String what) {
		return Awaitility.await(what).atMost(LabClient.RUN_TIME);
	}

	private static boolean isFrozen(Run.View run) {
		assertThat(run.state().isEnd()).isFalse();
		return run.nodes().stream().anyMatch((node) -> node.state() == LabNode.State.FROZEN);
	}

}
