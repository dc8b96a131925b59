package io.github.holdfast.testsupport;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;

import org.springframework.util.StringUtils;

import static org.awaitility.Awaitility.await;

/**
 * An etcd server in a process of its own, on free local ports. It has gone, with all its
 * files, when it is closed or this JVM exits. Tests need {@link RequiresEtcd}.
 */
public final class EtcdServer implements AutoCloseable {

	private static final Duration START_TIME = Duration.ofMinutes(3);

	private static final int ATTEMPTS = 10;

	/** So that leases of one second are possible, which etcd's defaults are not. */
	private static final List<String> SHORT_LEASES = List.of("--heartbeat-interval", "50", "--election-timeout", "500");

	/** Where etcd need not wait for a disk, which it does with each request. */
	private static final Path MEMORY = Path.of("/dev/shm");

	private static final HttpClient http = HttpClient.newHttpClient();

	private final ServerProcess process = new ServerProcess("etcd", Files.isDirectory(MEMORY) ? MEMORY : null);

	private final List<String> settings;

	private final Ports ports;

	EtcdServer(Ports ports, List<String> settings) {
		this.ports = ports;
		this.settings = settings;
	}

	/** The one server of this JVM for tests that do no harm to it. */
	public static EtcdServer shared() {
		return Shared.INSTANCE;
	}

	public static EtcdServer start(String... settings) {
		for (int attempt = 1;; attempt++) {
			EtcdServer server = new EtcdServer(Ports.free(),
					Stream.concat(SHORT_LEASES.stream(), Arrays.stream(settings)).toList());
			try {
				server.launch();
				server.awaitHealthy();
				return server;
			}
			catch (RuntimeException ex) {
				server.close();
				// Somebody else may have taken a port in the meantime
				if (attempt == ATTEMPTS || !String.valueOf(ex.getMessage()).contains("address already in use")) {
					throw ex;
				}
			}
		}
	}

	public static boolean isInstalled() {
		return binary().isPresent();
	}

	private static Optional<Path> binary() {
		return Stream.of(System.getenv("PATH").split(":"))
			.map((directory) -> Path.of(directory, "etcd"))
			.filter(Files::isExecutable)
			.findFirst();
	}

	public int port() {
		return this.ports.client();
	}

	public String endpoint() {
		return endpoint(port());
	}

	public String endpoint(int port) {
		return "http://127.0.0.1:" + port;
	}

	public boolean isLeader() {
		return get("/metrics").lines().anyMatch("etcd_server_is_leader 1"::equals);
	}

	/** The leases that are alive, whether or not they have keys. */
	public int leases() {
		String answer = send(HttpRequest.newBuilder(URI.create(endpoint() + "/v3/lease/leases"))
			.POST(HttpRequest.BodyPublishers.ofString("{}")));
		return StringUtils.countOccurrencesOf(answer, "\"ID\"");
	}

	public void kill() {
		this.process.kill();
	}

	public void restart() {
		kill();
		launch();
		awaitHealthy();
	}

	public void pause() {
		this.process.signal("STOP");
	}

	public void resume() {
		this.process.signal("CONT");
	}

	@Override
	public void close() {
		this.process.close();
	}

	void launch() {
		List<String> command = new ArrayList<>(List.of(binary().orElseThrow().toString(), "--data-dir",
				this.process.file("data").toString(), "--listen-client-urls", endpoint(), "--advertise-client-urls",
				endpoint(), "--listen-peer-urls", this.ports.peerUrl(), "--initial-advertise-peer-urls",
				this.ports.peerUrl(), "--listen-metrics-urls", this.ports.metricsUrl(), "--logger", "zap"));
		if (!this.settings.contains("--initial-cluster")) {
			command.addAll(List.of("--initial-cluster", "default=" + this.ports.peerUrl()));
		}
		command.addAll(this.settings);
		this.process.start(command, Map.of());
	}

	/** It knows a leader then. */
	void awaitHealthy() {
		await().atMost(START_TIME)
			.until(() -> !this.process.isAlive() || get("/health").replace(" ", "").contains("\"health\":\"true\""));
		if (!this.process.isAlive()) {
			throw new IllegalStateException("etcd did not start: " + this.process.log());
		}
		FirstAnswer.await(endpoint());
	}

	private String get(String path) {
		return send(HttpRequest.newBuilder(URI.create(this.ports.metricsUrl() + path)));
	}

	private static String send(HttpRequest.Builder request) {
		try {
			return http.send(request.timeout(Duration.ofSeconds(5)).build(), HttpResponse.BodyHandlers.ofString())
				.body();
		}
		catch (IOException ex) {
			return "";
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	record Ports(int client, int peer, int metrics) {

		static Ports free() {
			return new Ports(LocalPorts.free(), LocalPorts.free(), LocalPorts.free());
		}

		String peerUrl() {
			return "http://127.0.0.1:" + this.peer;
		}

		String metricsUrl() {
			return "http://127.0.0.1:" + this.metrics;
		}

	}

	/** Waits until a client gets answers, which takes long for the first one of a JVM. */
	public static void awaitAnswer(Client client) {
		await().atMost(START_TIME).ignoreException(CompletionException.class).until(() -> {
			client.getKVClient().get(ByteSequence.from("/", StandardCharsets.UTF_8)).join();
			return true;
		});
	}

	private static final class FirstAnswer {

		private static boolean there;

		static synchronized void await(String endpoint) {
			if (!there) {
				try (Client client = Client.builder().endpoints(endpoint).build()) {
					awaitAnswer(client);
				}
				there = true;
			}
		}

	}

	private static final class Shared {

		static final EtcdServer INSTANCE = start();

	}

}
