package io.github.holdfast.lab;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.MediaTypeFactory;

/**
 * Serves the page, and answers it with the recordings that the page plays without a lab.
 * A strategy that was not recorded is answered as {@code for-update} was.
 */
final class RecordedLab implements AutoCloseable {

	private static final Path REFUSED = Path.of("src/test/resources/lab/refused.json");

	private static final int PRESENT = -1;

	private final JsonMapper json = new JsonMapper();

	private final HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<ObjectNode> runs = new CopyOnWriteArrayList<>();

	private volatile int lucky;

	private volatile String lastRequest = "";

	private volatile boolean going;

	private volatile int away = PRESENT;

	RecordedLab() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.setExecutor(this.threads);
		this.server.createContext("/lab/", this::handle);
		this.server.start();
	}

	String url() {
		return "http://localhost:" + this.server.getAddress().getPort() + "/lab/";
	}

	/** Lets runs begin and not end. */
	void hold() {
		this.going = true;
	}

	void proceed() {
		this.going = false;
	}

	/** Serves the page only. */
	void beAbsent() {
		this.away = 404;
	}

	/** Lets the next runs do no damage. */
	void beLucky(int times) {
		this.lucky = times;
	}

	/**
	 * Is away while something happens.
	 * @param status what is answered in its place; 0 for nothing at all
	 */
	void leave(int status, Runnable meanwhile) {
		this.away = status;
		meanwhile.run();
		this.away = PRESENT;
	}

	String lastRequest() {
		return this.lastRequest;
	}

	int started() {
		return this.runs.size();
	}

	void reset() {
		proceed();
		beLucky(0);
		this.away = PRESENT;
		this.runs.clear();
	}

	private void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			String path = exchange.getRequestURI().getPath().substring("/lab/".length());
			if (!path.matches("info|strategies|runs.*")) {
				Path file = Rungs.PAGE.resolve(path.isEmpty() ? "index.html" : path);
				String type = MediaTypeFactory.getMediaType(file.toString()).map(String::valueOf).orElse("text/plain");
				send(exchange, Files.exists(file) ? 200 : 404, type,
						Files.exists(file) ? Files.readAllBytes(file) : null);
			}
			else if (this.away != PRESENT) {
				if (this.away != 0) {
					send(exchange, this.away, null);
				}
			}
			else if (!path.startsWith("runs")) {
				send(exchange, 200, this.json.readTree(Rungs.file("lab")).path(path));
			}
			else if (path.equals("runs")) {
				handleRuns(exchange);
			}
			else {
				String[] parts = path.split("/");
				handleRun(exchange, Integer.parseInt(parts[1]) - 1, parts[parts.length - 1]);
			}
		}
	}

	private void handleRuns(HttpExchange exchange) throws IOException {
		if (exchange.getRequestMethod().equals("GET")) {
			ArrayNode all = this.json.createArrayNode();
			this.runs.forEach((run) -> all.insert(0, seen(run)));
			send(exchange, 200, all);
			return;
		}
		JsonNode request = this.json.readTree(exchange.getRequestBody());
		this.lastRequest = request.toString();
		if (request.path("nodes").asInt() < 1 || request.path("stock").asInt() < 0) {
			send(exchange, 400, this.json.readTree("""
					{"detail": "stock and nodes", "errors": [{"field": "stock", "message": "is refused"},
						{"field": "nodes", "message": "is refused"}]}"""));
		}
		else if (this.going && !this.runs.isEmpty()) {
			send(exchange, 409, this.json.readTree("{\"detail\": \"Another run is in progress\"}"));
		}
		else {
			ObjectNode run = run(recording(request), request.path("strategy").asString());
			run.put("id", String.valueOf(this.runs.size() + 1));
			run.set("request", request);
			if (this.lucky > 0) {
				this.lucky--;
				run.set("verdict", this.json.readTree("""
						{"code": "RIGHT", "text": "", "arguments": {"lucky": true, "breaks": "ORDERS"}}"""));
			}
			this.runs.add(run);
			send(exchange, 201, seen(run));
		}
	}

	/** What was recorded of one strategy; of "all", the result of each one that was. */
	private ObjectNode run(Path recording, String strategy) {
		ObjectNode run = (ObjectNode) this.json.readTree(recording).path("run");
		if (strategy.equals("all")) {
			run.put("strategy", "all").putNull("verdict").set("facts", null);
			ArrayNode results = run.putArray("results");
			this.json.readTree(Rungs.file("lab"))
				.path("strategies")
				.forEach((each) -> results
					.add(((ObjectNode) this.json.readTree(recorded(each.path("id").asString())).path("run"))
						.retain("strategy", "facts", "verdict")));
		}
		return run;
	}

	/** A lease that is over before the commit is checked has a recording of its own. */
	private static Path recording(JsonNode request) {
		String strategy = request.path("strategy").asString();
		return strategy.equals("holdfast-redis-lease")
				&& request.path("faults").path(0).path("moment").asString().equals("WORK") ? REFUSED
						: recorded(strategy);
	}

	private static Path recorded(String strategy) {
		Path file = Rungs.file(strategy);
		return Files.exists(file) ? file : Rungs.file("for-update");
	}

	/** A run that is going has no verdict yet. */
	private ObjectNode seen(ObjectNode run) {
		return this.going ? run.deepCopy().put("state", "RUNNING").putNull("verdict") : run;
	}

	private void handleRun(HttpExchange exchange, int index, String what) throws IOException {
		if (index >= this.runs.size()) {
			send(exchange, 404, null);
			return;
		}
		ObjectNode run = this.runs.get(index);
		String strategy = String.valueOf(exchange.getRequestURI().getQuery()).replace("strategy=", "");
		JsonNode recording = this.json.readTree(
				run.path("strategy").asString().equals("all") ? recorded(strategy) : recording(run.path("request")));
		switch (what) {
			case "orders" -> {
				ArrayNode orders = this.json.createArrayNode();
				recording.path("orders").forEach((row) -> {
					ObjectNode order = orders.addObject().put("strategy", strategy);
					for (int i = 0; i < row.size(); i++) {
						order.set(recording.path("columns").path(i).asString(), row.get(i));
					}
				});
				send(exchange, 200, orders);
			}
			case "lost-update" -> {
				JsonNode lost = recording.path("lost");
				send(exchange, lost.isNull() ? 204 : 200, lost.isNull() ? null : lost);
			}
			default -> send(exchange, 200, seen(run));
		}
	}

	private void send(HttpExchange exchange, int status, @Nullable JsonNode answer) throws IOException {
		send(exchange, status, "application/json", (answer != null) ? this.json.writeValueAsBytes(answer) : null);
	}

	private static void send(HttpExchange exchange, int status, String type, byte @Nullable [] body)
			throws IOException {
		exchange.getResponseHeaders().add("Content-Type", type);
		exchange.sendResponseHeaders(status, (body != null) ? body.length : -1);
		if (body != null) {
			exchange.getResponseBody().write(body);
		}
	}

	@Override
	public void close() {
		this.server.stop(0);
		this.threads.shutdownNow();
	}

}
