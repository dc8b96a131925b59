package io.github.holdfast.sample.wms.proof;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;

/**
 * A client of both nodes, as one would write it: what was not done is tried again, at the
 * other node.
 */
final class WarehouseClient {

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Cluster cluster;

	private final String customerNo;

	private final AtomicInteger requests = new AtomicInteger();

	private final AtomicInteger retries = new AtomicInteger();

	private final Set<String> errors = new ConcurrentSkipListSet<>();

	WarehouseClient(Cluster cluster, String customerNo) {
		this.cluster = cluster;
		this.customerNo = customerNo;
	}

	void receive(String sku, int quantity) throws Exception {
		receive(UUID.randomUUID().toString(), sku, quantity);
	}

	void receive(String requestId, String sku, int quantity) throws Exception {
		expect(200, post("/inventory/receipts", """
				{"requestId": "%s", "customerNo": "%s", "warehouseCode": "W1", "sku": "%s", "quantity": %d}
				""".formatted(requestId, this.customerNo, sku, quantity)));
	}

	void create(String orderNo, String... skus) throws Exception {
		expect(201,
				post("/orders",
						"""
								{"orderNo": "%s", "customerNo": "%s", "warehouseCode": "W1", "lines": [%s]}
								""".formatted(orderNo, this.customerNo,
								Stream.of(skus)
									.map((sku) -> "{\"sku\": \"" + sku + "\", \"quantity\": 1}")
									.collect(Collectors.joining(",")))));
	}

	/**
	 * Confirms an order.
	 * @param orderNo the order
	 * @return whether it is confirmed; {@code false} if there is not enough stock
	 */
	boolean confirm(String orderNo) throws Exception {
		HttpResponse<String> response = post("/orders/" + orderNo + "/confirm", "");
		if (response.statusCode() == 409 && response.body().contains("insufficient-stock")) {
			return false;
		}
		expect(200, response);
		return true;
	}

	/**
	 * Buys one piece.
	 * @param requestId the request
	 * @param sku what is bought
	 * @param buyerNo who buys
	 * @return the status of the answer
	 */
	int buy(String requestId, String sku, String buyerNo) throws Exception {
		return post("/purchases", """
				{"requestId": "%s", "customerNo": "%s", "warehouseCode": "W1", "sku": "%s", "buyerNo": "%s",
				 "quantity": 1}
				""".formatted(requestId, this.customerNo, sku, buyerNo)).statusCode();
	}

	int retries() {
		return this.retries.get();
	}

	/**
	 * The type of each problem after which a request was sent again.
	 */
	Set<String> errors() {
		return this.errors;
	}

	private HttpResponse<String> post(String path, String json) throws InterruptedException {
		while (true) {
			URI node = this.cluster.node(this.requests.getAndIncrement());
			try {
				HttpResponse<String> response = this.http.send(HttpRequest.newBuilder(node.resolve(path))
					.timeout(Duration.ofMinutes(1))
					.header("Content-Type", "application/json")
					.POST(HttpRequest.BodyPublishers.ofString(json))
					.build(), HttpResponse.BodyHandlers.ofString());
				OptionalLong retryAfter = response.headers().firstValueAsLong("Retry-After");
				if (retryAfter.isEmpty()) {
					return response;
				}
				this.errors
					.add(JsonPath.<String>read(response.body(), "$.type").substring("urn:problem:wms:".length()));
				TimeUnit.SECONDS.sleep(retryAfter.getAsLong());
			}
			catch (IOException ex) {
				// The node has gone; the order may be confirmed or not, so ask the other
				TimeUnit.MILLISECONDS.sleep(10);
			}
			this.retries.incrementAndGet();
		}
	}

	private static void expect(int status, HttpResponse<String> response) {
		if (response.statusCode() != status) {
			throw new IllegalStateException(
					response.uri() + " answered " + response.statusCode() + ", not " + status + ": " + response.body());
		}
	}

}
