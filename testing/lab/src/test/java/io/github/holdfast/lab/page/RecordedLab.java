package io.github.holdfast.lab.page;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.core.io.ClassPathResource;
import org.springframework.util.StreamUtils;

/**
 * Serves the page, and answers it with the recordings that the page plays without a lab.
 * A strategy that was not recorded is answered as {@code for-update} was.
 */
final class RecordedLab implements AutoCloseable {

	private static final Path RECORDED = Languages.PAGE.resolve("recorded");

	private static final String REFUSED = "refused";

	private static final Pattern RUN = Pattern.compile("/lab/runs/(\\d+)(/[\\w-]+)?");

	private final JsonMapper json = new JsonMapper();

	private final HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<ObjectNode> runs = new CopyOnWriteArrayList<>();

	private volatile int lucky;

	private volatile String lastRequest = "";

	private volatile boolean going;

	private volatile int away;

	RecordedLab() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.setExecutor(this.threads);
		this.server.createContext("/", this::handle);
		this.server.start();
	}

	String url() {
		return "http://localhost:" + this.server.getAddress().getPort() + "/lab/";
	}

	/** Lets runs begin and not end. */
	void hold() {
		this.going = true;
	}

	/** Lets each run go on to its end. */
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
	 * Is away for a while, and knows of no run afterwards.
	 * @param meanwhile what happens while it is away
	 */
	void restart(Runnable meanwhile) {
		this.away = 503;
		meanwhile.run();
		reset();
	}

	/** With what the last run was started. */
	String lastRequest() {
		return this.lastRequest;
	}

	/** How many runs were started. */
	int started() {
		return this.runs.size();
	}

	/** Forgets all runs. */
	void reset() {
		proceed();
		beLucky(0);
		this.away = 0;
		this.runs.clear();
	}

	private void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			String path = exchange.getRequestURI().getPath();
			Matcher run = RUN.matcher(path);
			if (this.away != 0 && path.matches("/lab/(info|strategies|runs.*)")) {
				exchange.sendResponseHeaders(this.away, -1);
			}
			else if (path.equals("/lab/runs")) {
				handleRuns(exchange);
			}
			else if (run.matches()) {
				handleRun(exchange, Integer.parseInt(run.group(1)) - 1, String.valueOf(run.group(2)));
			}
			else if (List.of("/lab/info", "/lab/strategies").contains(path)) {
				send(exchange, 200, read("lab").path(path.substring(5)));
			}
			else {
				sendFile(exchange, path.equals("/lab/") ? "index.html" : path.substring("/lab/".length()));
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
	private ObjectNode run(String recording, String strategy) {
		ObjectNode run = (ObjectNode) read(recording).path("run");
		if (strategy.equals("all")) {
			run.put("strategy", "all").putNull("verdict").set("facts", null);
			ArrayNode results = run.putArray("results");
			read("lab").path("strategies")
				.forEach((each) -> results.add(((ObjectNode) read(each.path("id").asString()).path("run"))
					.retain("strategy", "facts", "verdict")));
		}
		return run;
	}

	/** A lease that is over before the commit is checked has a recording of its own. */
	private static String recording(JsonNode request) {
		String strategy = request.path("strategy").asString();
		return strategy.equals("holdfast-redis-lease")
				&& request.path("faults").path(0).path("moment").asString().equals("WORK") ? REFUSED
						: recorded(strategy);
	}

	private static String recorded(String strategy) {
		return Files.exists(RECORDED.resolve(strategy + ".json")) ? strategy : "for-update";
	}

	/** A run that is going has no verdict yet. */
	private ObjectNode seen(ObjectNode run) {
		return this.going ? run.deepCopy().put("state", "RUNNING").putNull("verdict") : run;
	}

	private void handleRun(HttpExchange exchange, int index, String what) throws IOException {
		if (index >= this.runs.size()) {
			exchange.sendResponseHeaders(404, -1);
			return;
		}
		ObjectNode run = this.runs.get(index);
		String strategy = String.valueOf(exchange.getRequestURI().getQuery()).replace("strategy=", "");
		JsonNode recording = read(
				run.path("strategy").asString().equals("all") ? recorded(strategy) : recording(run.path("request")));
		switch (what) {
			case "/orders" -> {
				ArrayNode orders = this.json.createArrayNode();
				recording.path("orders").forEach((row) -> {
					ObjectNode order = orders.addObject().put("strategy", strategy);
					int column = 0;
					for (JsonNode name : recording.path("columns")) {
						order.set(name.asString(), row.get(column++));
					}
				});
				send(exchange, 200, orders);
			}
			case "/lost-update" -> {
				if (recording.path("lost").isNull()) {
					exchange.sendResponseHeaders(204, -1);
				}
				else {
					send(exchange, 200, recording.path("lost"));
				}
			}
			default -> send(exchange, 200, seen(run));
		}
	}

	private JsonNode read(String name) {
		try {
			Path file = RECORDED.resolve(name + ".json");
			return this.json.readTree(name.equals(REFUSED) ? new ClassPathResource("lab/refused.json").getInputStream()
					: Files.newInputStream(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
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

}
