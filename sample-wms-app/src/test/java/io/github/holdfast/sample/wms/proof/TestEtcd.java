package io.github.holdfast.sample.wms.proof;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.TerminalFailureException;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

import org.springframework.util.FileSystemUtils;

import io.github.holdfast.sample.wms.FreePort;

/**
 * The etcd that is installed on this machine, as a server of its own for one test, which
 * forgets everything when it is killed. Without etcd, tests are skipped.
 */
final class TestEtcd implements LockServer.Forgetful {

	private static final int ATTEMPTS = 10;

	private final HttpClient http = HttpClient.newHttpClient();

	private final Path binary;

	private final Path folder;

	private final Thread shutdownHook = new Thread(this::kill);

	private int port;

	private int peerPort;

	private @Nullable Process process;

	TestEtcd() throws IOException {
		this.binary = binary().orElseThrow(() -> new TestAbortedException("etcd is not on the PATH"));
		this.folder = Files.createTempDirectory("wms-etcd");
		Runtime.getRuntime().addShutdownHook(this.shutdownHook);
		try {
			launchOnFreePorts();
		}
		catch (IOException | RuntimeException ex) {
			close();
			throw ex;
		}
	}

	private static Optional<Path> binary() {
		return Stream.of(System.getenv("PATH").split(":"))
			.map((directory) -> Path.of(directory, "etcd"))
			.filter(Files::isExecutable)
			.findFirst();
	}

	private String endpoint() {
		return "http://127.0.0.1:" + this.port;
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.profiles.active=etcd", "--holdfast.etcd.endpoints=" + endpoint());
	}

	@Override
	public void kill() {
		if (this.process != null) {
			this.process.destroyForcibly().onExit().join();
		}
		try {
			FileSystemUtils.deleteRecursively(this.folder);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void restart() throws IOException {
		launch();
	}

	private void launchOnFreePorts() throws IOException {
		for (int attempt = 1;; attempt++) {
			this.port = FreePort.find();
			this.peerPort = FreePort.find();
			try {
				launch();
				return;
			}
			catch (TerminalFailureException ex) {
				// Somebody else may have taken a port in the meantime
				kill();
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	private void launch() throws IOException {
		String peer = "http://127.0.0.1:" + this.peerPort;
		Process started = new ProcessBuilder(this.binary.toString(), "--data-dir", this.folder.toString(),
				"--listen-client-urls", endpoint(), "--advertise-client-urls", endpoint(), "--listen-peer-urls", peer,
				"--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--logger", "zap")
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		this.process = started;
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.failFast("etcd has ended", () -> !started.isAlive())
			.ignoreExceptionsInstanceOf(IOException.class)
			.until(this::isHealthy);
	}

	private boolean isHealthy() throws IOException, InterruptedException {
		return this.http
			.send(HttpRequest.newBuilder(URI.create(endpoint() + "/health")).timeout(Duration.ofSeconds(5)).build(),
					HttpResponse.BodyHandlers.ofString())
			.body()
			.contains("\"true\"");
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.shutdownHook);
	}

}
