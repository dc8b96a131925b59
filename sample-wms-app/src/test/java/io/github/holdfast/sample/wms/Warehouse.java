package io.github.holdfast.sample.wms;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.RestClient;

/** The warehouse service over HTTP, as a customer with its own stock and accounts. */
final class Warehouse {

	private final String customerNo = "C-" + UUID.randomUUID();

	private final RestClient client;

	Warehouse(int port) {
		this.client = RestClient.builder()
			.baseUrl("http://localhost:" + port)
			.defaultStatusHandler((status) -> true, (request, response) -> {
			})
			.build();
	}

	String customerNo() {
		return this.customerNo;
	}

	String key(String sku) {
		return "inventory:" + this.customerNo + ":W1:" + sku;
	}

	Answer receive(String sku, int quantity) {
		return receive(newId(), sku, quantity);
	}

	Answer receive(String requestId, String sku, int quantity) {
		return post("/inventory/receipts", """
				{"requestId": "%s", "customerNo": "%s", "warehouseCode": "W1", "sku": "%s", "quantity": %d}
				""", requestId, this.customerNo, sku, quantity);
	}

	long available(String sku) {
		return get("/inventory/" + this.customerNo + "/W1/" + sku).<Number>read("$.available").longValue();
	}

	String newOrder(String... lines) {
		String orderNo = newId();
		create(orderNo, lines);
		return orderNo;
	}

	Answer create(String orderNo, String... lines) {
		return post("/orders", """
				{"orderNo": "%s", "customerNo": "%s", "warehouseCode": "W1", "lines": [%s]}
				""", orderNo, this.customerNo, String.join(",", lines));
	}

	static String line(String sku, int quantity) {
		return "{\"sku\": \"%s\", \"quantity\": %d}".formatted(sku, quantity);
	}

	Answer confirm(String orderNo) {
		return post("/orders/" + orderNo + "/confirm", "");
	}

	Answer deposit(String requestId, String account, int amount) {
		return post("/accounts/deposits", """
				{"requestId": "%s", "accountNo": "%s", "amount": %d}
				""", requestId, accountNo(account), amount);
	}

	Answer transfer(String requestId, String from, String to, int amount) {
		return post("/accounts/transfers", """
				{"requestId": "%s", "from": "%s", "to": "%s", "amount": %d}
				""", requestId, accountNo(from), accountNo(to), amount);
	}

	int balance(String account) {
		return get("/accounts/" + accountNo(account)).read("$.balance");
	}

	private String accountNo(String account) {
		return this.customerNo + "." + account;
	}

	Answer buy(String requestId, String sku, String buyerNo, int quantity) {
		return post("/purchases", """
				{"requestId": "%s", "customerNo": "%s", "warehouseCode": "W1", "sku": "%s", "buyerNo": "%s",
				 "quantity": %d}
				""", requestId, this.customerNo, sku, buyerNo, quantity);
	}

	static String newId() {
		return "N-" + UUID.randomUUID();
	}

	Answer get(String path) {
		return exchange(HttpMethod.GET, path, "");
	}

	Answer post(String path, String json, Object... arguments) {
		return exchange(HttpMethod.POST, path, json.formatted(arguments));
	}

	private Answer exchange(HttpMethod method, String path, String json) {
		ResponseEntity<String> response = this.client.method(method)
			.uri(path)
			.contentType(MediaType.APPLICATION_JSON)
			.body(json)
			.retrieve()
			.toEntity(String.class);
		return new Answer(response.getStatusCode().value(), response.getHeaders().getFirst(HttpHeaders.RETRY_AFTER),
				response.getBody());
	}

	/** Makes calls, all of them at once. */
	static <T> List<T> atOnce(int calls, IntFunction<T> call) throws Exception {
		ExecutorService clients = Executors.newFixedThreadPool(calls);
		try {
			List<Future<T>> futures = IntStream.range(0, calls)
				.mapToObj((i) -> clients.submit(() -> call.apply(i)))
				.toList();
			List<T> answers = new ArrayList<>();
			for (Future<T> future : futures) {
				answers.add(future.get());
			}
			return answers;
		}
		finally {
			clients.shutdownNow();
		}
	}

	/** An answer of the service, of which the header and the JSON may be missing. */
	record Answer(int status, String retryAfter, String body) {

		<T> T read(String path) {
			return JsonPath.read(this.body, path);
		}

		/** The status, and the type of the problem. */
		String problem() {
			return this.status + " " + this.<String>read("$.type").replace("urn:problem:wms:", "");
		}

	}

}
