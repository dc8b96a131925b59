package io.github.holdfast.lab.page;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.webjars.WebJarVersionLocator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.core.io.ClassPathResource;
import org.springframework.util.StreamUtils;

/**
 * Serves the page, and answers it with what the lab has said once, in the same order but
 * as fast as a test wants. A strategy that was not recorded is answered as
 * {@code for-update} was.
 */
final class RecordedLab implements AutoCloseable {

	private static final Path RECORDED = Path.of("src", "test", "resources", "lab");

	private static final String WEBJARS = "/webjars/";

	private static final Pattern RUN = Pattern.compile("/lab/runs/(\\d+)(/[\\w-]+)?");

	private final JsonMapper json = new JsonMapper();

	private HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<Recording> started = new CopyOnWriteArrayList<>();

	private final List<String> faults = new CopyOnWriteArrayList<>();

	private final List<String> remembered = new CopyOnWriteArrayList<>();

	private volatile String lastRequest = "";

	private int allowedEvents = Integer.MAX_VALUE;

	RecordedLab() throws IOException {
		this.server = listen(0);
	}

	private HttpServer listen(int port) throws IOException {
		HttpServer started = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
		started.setExecutor(this.threads);
		started.createContext("/", this::handle);
		started.start();
		return started;
	}

	String url() {
		return "http://localhost:" + this.server.getAddress().getPort() + "/lab/";
	}

	/**
	 * Lets each run tell its first events only.
	 * @param events how many
	 */
	synchronized void allow(int events) {
		this.allowedEvents = events;
		notifyAll();
	}

	/**
	 * Lets each run go on to its end.
	 */
	void proceed() {
		allow(Integer.MAX_VALUE);
	}

	/**
	 * What was asked to be done to runs.
	 */
	List<String> faults() {
		return this.faults;
	}

	/**
	 * Is away for a while, and knows of no run afterwards.
	 * @param meanwhile what happens while it is away
	 */
	void restart(Runnable meanwhile) throws IOException {
		int port = this.server.getAddress().getPort();
		this.server.stop(0);
		try {
			meanwhile.run();
		}
		finally {
			reset();
			this.server = listen(port);
		}
	}

	/**
	 * Lets it know of earlier runs.
	 * @param faults what was done to each of them: a kind, or {@code kind.moment}
	 */
	void remember(String... faults) {
		this.remembered.addAll(List.of(faults));
	}

	/**
	 * With what the last run was started.
	 */
	String lastRequest() {
		return this.lastRequest;
	}

	/**
	 * Forgets all runs.
	 */
	void reset() {
		proceed();
		this.started.clear();
		this.faults.clear();
		this.remembered.clear();
	}

	private void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			String path = exchange.getRequestURI().getPath();
			Matcher run = RUN.matcher(path);
			if (path.startsWith(WEBJARS)) {
				sendWebJar(exchange, path.substring(WEBJARS.length()));
			}
			else if (path.equals("/lab/runs")) {
				handleRuns(exchange);
			}
			else if (run.matches()) {
				handleRun(exchange, recording(run.group(1)), String.valueOf(run.group(2)));
			}
			else if (List.of("/lab/info", "/lab/strategies", "/lab/locks").contains(path)) {
				send(exchange, 200, "application/json",
						Files.readAllBytes(RECORDED.resolve(path.substring(5) + ".json")));
			}
			else {
				sendFile(exchange, path.equals("/lab/") ? "index.html" : path.substring("/lab/".length()));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void handleRuns(HttpExchange exchange) throws IOException {
		if (exchange.getRequestMethod().equals("GET")) {
			ArrayNode runs = this.json.createArrayNode();
			this.started.forEach((recording) -> runs.insert(0, seen(recording)));
			this.remembered.forEach((fault) -> runs.add(withFault(fault, runs.size())));
			send(exchange, 200, runs);
			return;
		}
		JsonNode request = this.json.readTree(exchange.getRequestBody());
		this.lastRequest = request.toString();
		if (request.path("nodes").asInt() < 1 || request.path("stock").asInt() < 0) {
			send(exchange, 400, this.json.readTree(Files.readString(RECORDED.resolve("invalid.json"))));
			return;
		}
		if (this.allowedEvents < Integer.MAX_VALUE && !this.started.isEmpty()) {
			send(exchange, 409, this.json.readTree(Files.readString(RECORDED.resolve("in-progress.json"))));
			return;
		}
		Recording recording = Recording.of(request.path("strategy").asString());
		this.started.remove(recording);
		this.started.add(recording);
		ObjectNode run = recording.run();
		run.put("state", "STARTING").putNull("facts").putNull("verdict").putArray("results");
		send(exchange, 201, run);
	}

	private static ObjectNode withFault(String fault, int number) {
		String[] parts = fault.split("\\.");
		ObjectNode run = Recording.of("memory-overwrite").run().put("id", "before-" + number);
		run.putArray("faults")
			.addObject()
			.put("strategy", "memory-overwrite")
			.put("kind", parts[0])
			.put("moment", (parts.length > 1) ? parts[1] : null);
		return run;
	}

	/**
	 * A run that has not told everything is still going.
	 */
	private synchronized ObjectNode seen(Recording recording) {
		ObjectNode run = recording.run();
		if (this.allowedEvents < Integer.MAX_VALUE) {
			run.put("state", "RUNNING").putNull("facts").putNull("verdict").putArray("results");
		}
		return run;
	}

	private void handleRun(HttpExchange exchange, Recording recording, String what)
			throws IOException, InterruptedException {
		switch (what) {
			case "/events" -> sendEvents(exchange, recording);
			case "/orders" -> send(exchange, 200, recording.orders(exchange.getRequestURI().getQuery()));
			case "/lost-update" -> sendLostUpdate(exchange, recording);
			case "/faults" -> {
				this.faults.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
				exchange.sendResponseHeaders(202, -1);
			}
			default -> send(exchange, 200, recording.run());
		}
	}

	private Recording recording(String id) {
		return this.started.stream()
			.filter((recording) -> recording.run().path("id").asString().equals(id))
			.findFirst()
			.orElseThrow();
	}

	private void sendEvents(HttpExchange exchange, Recording recording) throws IOException, InterruptedException {
		exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
		exchange.sendResponseHeaders(200, 0);
		OutputStream body = exchange.getResponseBody();
		List<String> events = recording.events();
		for (int i = 0; i < events.size(); i++) {
			synchronized (this) {
				while (this.allowedEvents <= i) {
					wait();
				}
			}
			body.write((events.get(i) + "\n\n").getBytes(StandardCharsets.UTF_8));
			body.flush();
		}
	}

	private void sendLostUpdate(HttpExchange exchange, Recording recording) throws IOException {
		Path file = recording.folder().resolve("lost-update.json");
		String strategy = exchange.getRequestURI().getQuery().replace("strategy=", "");
		if (Files.exists(file) && Files.readString(file).contains('"' + strategy + '"')) {
			send(exchange, 200, "application/json", Files.readAllBytes(file));
		}
		else {
			exchange.sendResponseHeaders(204, -1);
		}
	}

	/**
	 * As {@code webjars-locator-lite} does in the application.
	 */
	private void sendWebJar(HttpExchange exchange, String path) throws IOException {
		int slash = path.indexOf('/');
		String full = new WebJarVersionLocator().fullPath(path.substring(0, slash), path.substring(slash + 1));
		send(exchange, 200, type(path), new ClassPathResource(String.valueOf(full)).getContentAsByteArray());
	}

	private void sendFile(HttpExchange exchange, String path) throws IOException {
		Path file = Languages.PAGE.resolve(path);
		if (Files.isRegularFile(file)) {
			send(exchange, 200, type(path), Files.readAllBytes(file));
		}
		else {
			exchange.sendResponseHeaders(404, -1);
		}
	}

	private static String type(String path) {
		return switch (path.substring(path.lastIndexOf('.') + 1)) {
			case "html" -> "text/html;charset=utf-8";
			case "js" -> "text/javascript";
			case "css" -> "text/css";
			case "json" -> "application/json";
			case "svg" -> "image/svg+xml";
			default -> "application/octet-stream";
		};
	}

	private void send(HttpExchange exchange, int status, JsonNode answer) throws IOException {
		send(exchange, status, "application/json", this.json.writeValueAsBytes(answer));
	}

	private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
		exchange.getResponseHeaders().add("Content-Type", type);
		exchange.sendResponseHeaders(status, body.length);
		StreamUtils.copy(body, exchange.getResponseBody());
	}

	@Override
	public void close() {
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	/**
	 * What the lab has said of one run.
	 *
	 * @param folder where it is
	 */
	private record Recording(Path folder) {

		private static final JsonMapper JSON = new JsonMapper();

		static Recording of(String strategy) {
			Path folder = RECORDED.resolve(strategy);
			return new Recording(Files.exists(folder) ? folder : RECORDED.resolve("for-update"));
		}

		ObjectNode run() {
			return (ObjectNode) read("run.json");
		}

		ArrayNode orders(String query) {
			ArrayNode orders = JSON.createArrayNode();
			for (JsonNode order : read("orders.json")) {
				if (query.equals("strategy=" + order.path("strategy").asString())) {
					orders.add(order);
				}
			}
			return orders;
		}

		List<String> events() throws IOException {
			return new ArrayList<>(List.of(Files.readString(this.folder.resolve("events.txt")).trim().split("\n\n")));
		}

		private JsonNode read(String name) {
			try {
				return JSON.readTree(Files.readString(this.folder.resolve(name)));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
