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

import org.springframework.util.StreamUtils;

/**
 * Serves the page, and answers it with what the lab has said once. A strategy that was
 * not recorded is answered as {@code for-update} was.
 */
final class RecordedLab implements AutoCloseable {

	private static final Path RECORDED = Path.of("src", "test", "resources", "lab");

	private static final Pattern RUN = Pattern.compile("/lab/runs/(\\d+)(/[\\w-]+)?");

	private final JsonMapper json = new JsonMapper();

	private HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<ObjectNode> runs = new CopyOnWriteArrayList<>();

	private volatile int lucky;

	private volatile String lastRequest = "";

	private volatile boolean going;

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
	 * Lets runs begin and not end.
	 */
	void hold() {
		this.going = true;
	}

	/**
	 * Lets each run go on to its end.
	 */
	void proceed() {
		this.going = false;
	}

	/**
	 * Lets the next runs do no damage.
	 */
	void beLucky(int times) {
		this.lucky = times;
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
	 * With what the last run was started.
	 */
	String lastRequest() {
		return this.lastRequest;
	}

	/**
	 * How many runs were started.
	 */
	int started() {
		return this.runs.size();
	}

	/**
	 * Forgets all runs.
	 */
	void reset() {
		proceed();
		beLucky(0);
		this.runs.clear();
	}

	private void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			String path = exchange.getRequestURI().getPath();
			Matcher run = RUN.matcher(path);
			if (path.equals("/lab/runs")) {
				handleRuns(exchange);
			}
			else if (run.matches()) {
				handleRun(exchange, Integer.parseInt(run.group(1)) - 1, String.valueOf(run.group(2)));
			}
			else if (List.of("/lab/info", "/lab/strategies").contains(path)) {
				send(exchange, 200, read(path.substring(5) + ".json"));
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
			send(exchange, 400, read("invalid.json"));
		}
		else if (this.going && !this.runs.isEmpty()) {
			send(exchange, 409, read("in-progress.json"));
		}
		else {
			ObjectNode run = (ObjectNode) read(recorded(request.path("strategy").asString()) + "/run.json");
			run.put("id", String.valueOf(this.runs.size() + 1));
			((ObjectNode) run.path("request")).set("faults", request.path("faults"));
			if (this.lucky > 0) {
				this.lucky--;
				run.set("verdict", read("lucky.json"));
			}
			this.runs.add(run);
			send(exchange, 201, seen(run));
		}
	}

	private static String recorded(String strategy) {
		return Files.exists(RECORDED.resolve(strategy)) ? strategy : "for-update";
	}

	/**
	 * A run that is going has no verdict yet.
	 */
	private ObjectNode seen(ObjectNode run) {
		return this.going ? run.deepCopy().put("state", "RUNNING").putNull("verdict") : run;
	}

	private void handleRun(HttpExchange exchange, int index, String what) throws IOException {
		if (index >= this.runs.size()) {
			exchange.sendResponseHeaders(404, -1);
			return;
		}
		ObjectNode run = this.runs.get(index);
		String recorded = recorded(run.path("strategy").asString());
		String strategy = String.valueOf(exchange.getRequestURI().getQuery()).replace("strategy=", "");
		switch (what) {
			case "/orders" -> {
				ArrayNode orders = this.json.createArrayNode();
				read(recorded + "/orders.json").forEach((order) -> {
					if (order.path("strategy").asString().equals(strategy)) {
						orders.add(order);
					}
				});
				send(exchange, 200, orders);
			}
			case "/lost-update" -> {
				if (Files.exists(RECORDED.resolve(recorded).resolve("lost-update.json"))) {
					send(exchange, 200, read(recorded + "/lost-update.json"));
				}
				else {
					exchange.sendResponseHeaders(204, -1);
				}
			}
			default -> send(exchange, 200, seen(run));
		}
	}

	private JsonNode read(String name) {
		try {
			return this.json.readTree(Files.readString(RECORDED.resolve(name)));
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
