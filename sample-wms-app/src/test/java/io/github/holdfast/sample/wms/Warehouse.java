package io.github.holdfast.sample.wms;

import java.util.UUID;

import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.test.web.servlet.client.RestTestClient.BodyContentSpec;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The warehouse service as a customer of its own sees it over HTTP.
 */
final class Warehouse {

	private final String customerNo = "C-" + UUID.randomUUID();

	private final RestTestClient client;

	Warehouse(RestTestClient client) {
		this.client = client;
	}

	String customerNo() {
		return this.customerNo;
	}

	String key(String sku) {
		return "inventory:" + this.customerNo + ":W1:" + sku;
	}

	BodyContentSpec receive(String sku, int quantity) {
		return post("/inventory/receipts", receipt(sku, quantity)).expectStatus().isOk().expectBody();
	}

	String create(String... lines) {
		String orderNo = "O-" + UUID.randomUUID();
		post("/orders", order(orderNo, lines)).expectStatus().isCreated();
		return orderNo;
	}

	ResponseSpec confirm(String orderNo) {
		return this.client.post().uri("/orders/{orderNo}/confirm", orderNo).exchange();
	}

	void assertConfirms(String orderNo, boolean alreadyConfirmed) {
		confirm(orderNo).expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.status")
			.isEqualTo("CONFIRMED")
			.jsonPath("$.alreadyConfirmed")
			.isEqualTo(alreadyConfirmed);
	}

	void assertStatus(String orderNo, String status) {
		get("/orders/{orderNo}", orderNo).expectBody().jsonPath("$.status").isEqualTo(status);
	}

	void assertStock(String sku, int available) {
		assertThat(available(sku)).isEqualTo(available);
	}

	int available(String sku) {
		return Answer.of(get("/inventory/{customerNo}/W1/{sku}", this.customerNo, sku)).read("$.available");
	}

	BodyContentSpec problem(ResponseSpec response, int status, String type) {
		return response.expectStatus()
			.isEqualTo(status)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:problem:wms:" + type);
	}

	ResponseSpec post(String uri, String json) {
		return this.client.post().uri(uri).contentType(MediaType.APPLICATION_JSON).body(json).exchange();
	}

	ResponseSpec patch(String uri, String json, Object... variables) {
		return this.client.patch().uri(uri, variables).contentType(MediaType.APPLICATION_JSON).body(json).exchange();
	}

	ResponseSpec get(String uri, Object... variables) {
		return this.client.get().uri(uri, variables).exchange();
	}

	String receipt(String sku, int quantity) {
		return """
				{"requestId": "%s", "customerNo": "%s", "warehouseCode": "W1", "sku": "%s", "quantity": %d}
				""".formatted(RequestTests.newId(), this.customerNo, sku, quantity);
	}

	String order(String orderNo, String... lines) {
		return """
				{"orderNo": "%s", "customerNo": "%s", "warehouseCode": "W1", "lines": [%s]}
				""".formatted(orderNo, this.customerNo, String.join(",", lines));
	}

	static String line(String sku, int quantity) {
		return """
				{"sku": "%s", "quantity": %d}
				""".formatted(sku, quantity);
	}

}
