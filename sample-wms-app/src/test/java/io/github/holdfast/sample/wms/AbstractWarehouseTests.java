package io.github.holdfast.sample.wms;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.holdfast.LockTemplate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.test.web.servlet.client.RestTestClient.BodyContentSpec;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the warehouse service does over HTTP. The databases are the leaves.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT, properties = "holdfast.wait-time=1s")
@AutoConfigureRestTestClient
abstract class AbstractWarehouseTests {

	private final String customerNo = "C-" + UUID.randomUUID();

	@Autowired
	private RestTestClient client;

	@Autowired
	private LockTemplate locks;

	@Autowired
	private JdbcTemplate jdbc;

	private TransactionTemplate transactions;

	private TransactionTemplate separately;

	@Autowired
	void setTransactionManager(PlatformTransactionManager manager) {
		this.transactions = new TransactionTemplate(manager);
		this.separately = new TransactionTemplate(manager);
		this.separately.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
	}

	@Test
	void receiveAddsToStock() {
		receive("A", 10).jsonPath("$.available").isEqualTo(10);
		receive("A", 5).jsonPath("$.available").isEqualTo(15);
		assertStock("A", 15);
	}

	@Test
	void listShowsStockBySku() {
		receive("B", 1);
		receive("A", 2);
		get("/inventory/{customerNo}/W1", this.customerNo).expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$[*].sku")
			.isEqualTo(List.of("A", "B"));
	}

	@Test
	void skusThatDifferInCaseAreDifferentStock() {
		receive("sku", 1);
		receive("SKU", 2);
		assertStock("sku", 1);
		assertStock("SKU", 2);
	}

	@Test
	void createdOrderDeductsNothing() {
		receive("A", 10);
		String orderNo = create(line("A", 3));
		get("/orders/{orderNo}", orderNo).expectBody()
			.jsonPath("$.status")
			.isEqualTo("CREATED")
			.jsonPath("$.lines[0].quantity")
			.isEqualTo(3);
		assertStock("A", 10);
	}

	@Test
	void createTwiceCreatesOnce() {
		String order = order("O-" + UUID.randomUUID(), line("A", 1));
		post("/orders", order).expectStatus().isCreated().expectHeader().exists(HttpHeaders.LOCATION);
		post("/orders", order).expectStatus().isOk();
	}

	@Test
	void createOtherOrderOfSameNumberIsRefused() {
		String orderNo = create(line("A", 1));
		problem(post("/orders", order(orderNo, line("A", 2))), 409, "order-exists").jsonPath("$.orderNo")
			.isEqualTo(orderNo);
	}

	@Test
	void confirmDeductsEachLine() {
		receive("A", 10);
		receive("B", 10);
		confirm(create(line("B", 1), line("A", 2), line("B", 3))).expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.status")
			.isEqualTo("CONFIRMED")
			.jsonPath("$.alreadyConfirmed")
			.isEqualTo(false);
		assertStock("A", 8);
		assertStock("B", 6);
	}

	@Test
	void confirmTwiceDeductsOnce() {
		receive("A", 10);
		String orderNo = create(line("A", 3));
		confirm(orderNo).expectStatus().isOk();
		confirm(orderNo).expectStatus().isOk().expectBody().jsonPath("$.alreadyConfirmed").isEqualTo(true);
		get("/orders/{orderNo}", orderNo).expectBody().jsonPath("$.status").isEqualTo("CONFIRMED");
		assertStock("A", 7);
	}

	@Test
	void confirmAtTheSameTimeDeductsOnce() {
		receive("A", 10);
		String orderNo = create(line("A", 3));
		ExecutorService clients = Executors.newFixedThreadPool(8);
		try {
			var answers = IntStream.range(0, 8)
				.mapToObj((i) -> clients
					.submit(() -> confirm(orderNo).expectStatus().isOk().returnResult(String.class).getResponseBody()))
				.toList();
			assertThat(answers).extracting((answer) -> String.valueOf(answer.get()))
				.filteredOn((answer) -> answer.contains("\"alreadyConfirmed\":false"))
				.hasSize(1);
		}
		finally {
			clients.shutdownNow();
		}
		assertStock("A", 7);
	}

	@Test
	void confirmWhenStockIsInsufficientDeductsNothing() {
		receive("A", 10);
		receive("B", 10);
		String orderNo = create(line("A", 1), line("B", 6), line("B", 5), line("C", 1));
		problem(confirm(orderNo), 409, "insufficient-stock").jsonPath("$.shortages[*].sku")
			.isEqualTo(List.of("B", "C"))
			.jsonPath("$.shortages[0].requested")
			.isEqualTo(11)
			.jsonPath("$.shortages[0].available")
			.isEqualTo(10);
		assertStock("A", 10);
		assertStock("B", 10);
		get("/orders/{orderNo}", orderNo).expectBody().jsonPath("$.status").isEqualTo("CREATED");
	}

	@Test
	void confirmWhenLockIsHeldIsBusy() {
		receive("A", 10);
		String orderNo = create(line("B", 1), line("A", 1));
		this.locks.run(key("A"), () -> {
			ResponseSpec response = confirm(orderNo);
			response.expectHeader().valueEquals(HttpHeaders.RETRY_AFTER, "1");
			problem(response, 423, "busy").jsonPath("$.key").isEqualTo(key("A")).jsonPath("$.reason").isEqualTo("BUSY");
		});
		assertStock("A", 10);
	}

	@Test
	void receiveWhenLockIsHeldIsBusy() {
		receive("A", 10);
		this.locks.run(key("A"), () -> problem(post("/inventory/receipts", receipt("A", 5)), 423, "busy"));
		assertStock("A", 10);
	}

	@Test
	void confirmWhenLockIsLostDeductsNothing() throws Exception {
		receive("A", 10);
		String orderNo = create(line("A", 1));
		ExecutorService clients = Executors.newSingleThreadExecutor();
		try {
			Future<ResponseSpec> answer = this.transactions.execute((transaction) -> {
				// Its row is locked, so the confirmation cannot finish before this has
				this.jdbc.update("update tb_inventory set version = version where customer_no = ?", this.customerNo);
				Future<ResponseSpec> confirmation = clients.submit(() -> confirm(orderNo));
				Awaitility.await().until(() -> isLocked());
				endLeases();
				return confirmation;
			});
			problem(answer.get(), 409, "lock-lost").jsonPath("$.key").isEqualTo(key("A"));
		}
		finally {
			clients.shutdownNow();
		}
		assertStock("A", 10);
		confirm(orderNo).expectStatus().isOk().expectBody().jsonPath("$.alreadyConfirmed").isEqualTo(false);
	}

	@Test
	void confirmWhenLockStoreFailsIsUnavailable() {
		receive("A", 10);
		String orderNo = create(line("A", 1));
		this.jdbc.execute("alter table holdfast_lock rename to holdfast_lock_gone");
		try {
			problem(confirm(orderNo), 503, "lock-store-down");
		}
		finally {
			this.jdbc.execute("alter table holdfast_lock_gone rename to holdfast_lock");
		}
		assertStock("A", 10);
		confirm(orderNo).expectStatus().isOk();
	}

	@Test
	void unknownOrderIsNotFound() {
		problem(confirm("none"), 404, "unknown-order").jsonPath("$.orderNo").isEqualTo("none");
		problem(get("/orders/{orderNo}", "none"), 404, "unknown-order");
	}

	@Test
	void unknownStockIsNotFound() {
		problem(get("/inventory/{customerNo}/W1/none", this.customerNo), 404, "unknown-stock");
	}

	@Test
	void badInputNamesEachField() {
		problem(post("/orders", order("O 1", line("A", 0))), 400, "invalid-request").jsonPath("$.errors.orderNo")
			.exists()
			.jsonPath("$.errors['lines[0].quantity']")
			.exists();
		problem(post("/orders", order("O1")), 400, "invalid-request").jsonPath("$.errors.lines").exists();
		problem(post("/inventory/receipts", receipt("A:B", 1)), 400, "invalid-request").jsonPath("$.errors.sku")
			.exists();
		post("/orders", "{").expectStatus().isBadRequest();
	}

	private String key(String sku) {
		return "inventory:" + this.customerNo + ":W1:" + sku;
	}

	private boolean isLocked() {
		return Boolean.TRUE.equals(this.separately.execute((transaction) -> this.jdbc
			.queryForObject("select count(*) > 0 from holdfast_lock where owner is not null", Boolean.class)));
	}

	private void endLeases() {
		this.separately.executeWithoutResult((transaction) -> this.jdbc
			.update("update holdfast_lock set owner = null, epoch = epoch + 1 where owner is not null"));
	}

	private BodyContentSpec receive(String sku, int quantity) {
		return post("/inventory/receipts", receipt(sku, quantity)).expectStatus().isOk().expectBody();
	}

	private String create(String... lines) {
		String orderNo = "O-" + UUID.randomUUID();
		post("/orders", order(orderNo, lines)).expectStatus().isCreated();
		return orderNo;
	}

	private ResponseSpec confirm(String orderNo) {
		return this.client.post().uri("/orders/{orderNo}/confirm", orderNo).exchange();
	}

	private void assertStock(String sku, int available) {
		get("/inventory/{customerNo}/W1/{sku}", this.customerNo, sku).expectBody()
			.jsonPath("$.available")
			.isEqualTo(available);
	}

	private BodyContentSpec problem(ResponseSpec response, int status, String type) {
		return response.expectStatus()
			.isEqualTo(status)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:problem:wms:" + type);
	}

	private ResponseSpec post(String uri, String json) {
		return this.client.post().uri(uri).contentType(MediaType.APPLICATION_JSON).body(json).exchange();
	}

	private ResponseSpec get(String uri, Object... variables) {
		return this.client.get().uri(uri, variables).exchange();
	}

	private String receipt(String sku, int quantity) {
		return """
				{"customerNo": "%s", "warehouseCode": "W1", "sku": "%s", "quantity": %d}
				""".formatted(this.customerNo, sku, quantity);
	}

	private String order(String orderNo, String... lines) {
		return """
				{"orderNo": "%s", "customerNo": "%s", "warehouseCode": "W1", "lines": [%s]}
				""".formatted(orderNo, this.customerNo, Stream.of(lines).collect(Collectors.joining(",")));
	}

	private static String line(String sku, int quantity) {
		return """
				{"sku": "%s", "quantity": %d}
				""".formatted(sku, quantity);
	}

}
