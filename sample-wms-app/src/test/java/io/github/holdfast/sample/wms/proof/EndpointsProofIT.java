package io.github.holdfast.sample.wms.proof;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What operators see of the packaged application, be it processed ahead of time or not.
 */
@Tag("long")
class EndpointsProofIT {

	private static final String KEY = "inventory:C:W1:A";

	private final HttpClient http = HttpClient.newHttpClient();

	@Test
	void locksMetersAndHealthOfTheServiceAnswer() throws Exception {
		try (Node node = start("--management.endpoint.health.show-details=always",
				"--management.endpoint.locks.show-values=always", "--management.endpoint.locks.access=unrestricted")) {
			URI actuator = node.uri().resolve("/actuator/");
			assertThat(receive(node.uri()).statusCode()).isEqualTo(200);

			String acquired = get(actuator, "metrics/holdfast.locks.acquire?tag=lock.name:stock&tag=outcome:ACQUIRED");
			assertThat(JsonPath.<Double>read(acquired, "$.measurements[0].value")).isEqualTo(1);
			assertThat(get(actuator, "prometheus")).contains("holdfast_locks_lost_total{");

			String health = get(actuator, "health");
			assertThat(JsonPath.<String>read(health, "$.components.holdfast.status")).isEqualTo("UP");
			assertThat(JsonPath.<String>read(health, "$.components.holdfast.details.commitGuard")).isEqualTo("fence");

			assertThat(JsonPath.<List<?>>read(get(actuator, "locks"), "$.held")).isEmpty();
			String lock = get(actuator, "locks/" + KEY);
			assertThat(JsonPath.<String>read(lock, "$.key")).isEqualTo(KEY);
			HttpResponse<String> eviction = send(
					HttpRequest.newBuilder(actuator.resolve("locks/" + KEY + "?owner=nobody&epoch=1")).DELETE());
			assertThat(eviction.statusCode()).isEqualTo(409);
			assertThat(JsonPath.<String>read(eviction.body(), "$.outcome")).isEqualTo("NOT_HELD");
		}
	}

	private static Node start(String... arguments) throws Exception {
		List<String> all = new ArrayList<>(StockDatabase.create(TestDatabase.H2).arguments());
		all.add("--spring.profiles.active=operate");
		Collections.addAll(all, arguments);
		return Node.start("endpoints", all);
	}

	private HttpResponse<String> receive(URI node) throws Exception {
		return send(HttpRequest.newBuilder(node.resolve("/inventory/receipts"))
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString("""
					{"requestId": "R", "customerNo": "C", "warehouseCode": "W1", "sku": "A", "quantity": 10}
					""")));
	}

	private String get(URI actuator, String endpoint) throws Exception {
		HttpResponse<String> response = send(HttpRequest.newBuilder(actuator.resolve(endpoint)));
		assertThat(response.statusCode()).as(endpoint).isEqualTo(200);
		return response.body();
	}

	private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
		return this.http.send(request.build(), BodyHandlers.ofString());
	}

}
