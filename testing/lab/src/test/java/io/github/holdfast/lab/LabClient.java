package io.github.holdfast.lab;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.RestClient;

import io.github.holdfast.lab.strategy.OrderView;

/** Uses the lab over HTTP. */
final class LabClient {

	/** All approaches in one run, on a machine that has much else to do. */
	static final Duration RUN_TIME = Duration.ofMinutes(20);

	private final RestClient client;

	LabClient(int port) {
		this.client = RestClient.builder()
			.baseUrl("http://localhost:" + port + "/lab")
			.defaultStatusHandler((status) -> true, (request, response) -> {
			})
			.build();
	}

	ResponseEntity<String> post(String path, String json) {
		return postFrom(null, path, json);
	}

	/** Sends what a page of an origin sends. */
	ResponseEntity<String> postFrom(@Nullable String origin, String uri, String json) {
		RestClient.RequestBodySpec request = this.client.post().uri(uri).contentType(MediaType.APPLICATION_JSON);
		if (origin != null) {
			request.header("Origin", origin);
		}
		return request.body(json).retrieve().toEntity(String.class);
	}

	String start(String json) {
		ResponseEntity<String> answer = post("/runs", json);
		if (answer.getStatusCode().value() != 201) {
			throw new IllegalStateException("The run did not start: " + answer);
		}
		return String.valueOf(answer.getHeaders().getLocation()).replaceFirst(".*/", "");
	}

	Run.View find(String id) {
		return this.client.get().uri("/runs/{id}", id).retrieve().requiredBody(Run.View.class);
	}

	Run.View await(String id) {
		return Awaitility.await("end of run " + id)
			.atMost(RUN_TIME)
			.until(() -> find(id), (run) -> run.state().isEnd());
	}

	Run.View run(String json) {
		return await(start(json));
	}

	List<OrderView> orders(String id) {
		return this.client.get()
			.uri("/runs/{id}/orders", id)
			.retrieve()
			.requiredBody(new ParameterizedTypeReference<List<OrderView>>() {
			});
	}

	ResponseEntity<Trial.LostUpdate> lostUpdate(String id) {
		return this.client.get().uri("/runs/{id}/lost-update", id).retrieve().toEntity(Trial.LostUpdate.class);
	}

	String get(String path) {
		return String.valueOf(this.client.get().uri(path).retrieve().body(String.class));
	}

	void delete(String path) {
		this.client.delete().uri(path).retrieve().toBodilessEntity();
	}

	/** Where an address leads to. */
	static String location(String uri) {
		return String
			.valueOf(RestClient.create().get().uri(uri).retrieve().toBodilessEntity().getHeaders().getLocation());
	}

}
