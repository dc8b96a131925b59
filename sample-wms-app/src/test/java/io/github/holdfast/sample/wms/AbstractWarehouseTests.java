package io.github.holdfast.sample.wms;

import java.util.List;
import java.util.UUID;

import io.github.holdfast.LockTemplate;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpHeaders;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;
import org.springframework.transaction.PlatformTransactionManager;

import static io.github.holdfast.sample.wms.Warehouse.line;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the warehouse service does over HTTP. The databases are the leaves.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "holdfast.wait-time=1s", "holdfast.locks.account.wait-time=1m",
				"holdfast.locks.submission.wait-time=1m", "wms.stock-report.cron=-",
				"spring.datasource.url=jdbc:h2:mem:wms;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000" })
@AutoConfigureRestTestClient
abstract class AbstractWarehouseTests implements AccountTests, RequestTests, SaleTests, ItemTests, StockReportTests {

	@Autowired
	private LockTemplate locks;

	private Warehouse warehouse;

	private LockDatabase database;

	@Autowired
	void setUp(RestTestClient client, JdbcTemplate jdbc, PlatformTransactionManager transactions) {
		this.warehouse = new Warehouse(client);
		this.database = new LockDatabase(jdbc, transactions);
	}

	@Override
	public Warehouse warehouse() {
		return this.warehouse;
	}

	@Override
	public LockTemplate locks() {
		return this.locks;
	}

	@Override
	public LockDatabase database() {
		return this.database;
	}

	@Test
	void receiveAddsToStock() {
		this.warehouse.receive("A", 10).jsonPath("$.available").isEqualTo(10);
		this.warehouse.receive("A", 5).jsonPath("$.available").isEqualTo(15);
		this.warehouse.assertStock("A", 15);
	}

	@Test
	void listShowsStockBySku() {
		this.warehouse.receive("B", 1);
		this.warehouse.receive("A", 2);
		this.warehouse.get("/inventory/{customerNo}/W1", this.warehouse.customerNo())
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$[*].sku")
			.isEqualTo(List.of("A", "B"));
	}

	@Test
	void skusThatDifferInCaseAreDifferentStock() {
		this.warehouse.receive("sku", 1);
		this.warehouse.receive("SKU", 2);
		this.warehouse.assertStock("sku", 1);
		this.warehouse.assertStock("SKU", 2);
	}

	@Test
	void createdOrderDeductsNothing() {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.create(line("A", 3));
		this.warehouse.assertStatus(orderNo, "CREATED");
		this.warehouse.assertStock("A", 10);
	}

	@Test
	void createTwiceCreatesOnce() {
		String order = this.warehouse.order("O-" + UUID.randomUUID(), line("A", 1));
		this.warehouse.post("/orders", order).expectStatus().isCreated().expectHeader().exists(HttpHeaders.LOCATION);
		this.warehouse.post("/orders", order).expectStatus().isOk();
	}

	@Test
	void createOtherOrderOfSameNumberIsRefused() {
		String orderNo = this.warehouse.create(line("A", 1));
		this.warehouse
			.problem(this.warehouse.post("/orders", this.warehouse.order(orderNo, line("A", 2))), 409, "order-exists")
			.jsonPath("$.orderNo")
			.isEqualTo(orderNo);
	}

	@Test
	void confirmDeductsEachLine() {
		this.warehouse.receive("A", 10);
		this.warehouse.receive("B", 10);
		this.warehouse.assertConfirms(this.warehouse.create(line("B", 1), line("A", 2), line("B", 3)), false);
		this.warehouse.assertStock("A", 8);
		this.warehouse.assertStock("B", 6);
	}

	@Test
	void confirmTwiceDeductsOnce() {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.create(line("A", 3));
		this.warehouse.assertConfirms(orderNo, false);
		this.warehouse.assertConfirms(orderNo, true);
		this.warehouse.assertStatus(orderNo, "CONFIRMED");
		this.warehouse.assertStock("A", 7);
	}

	@Test
	void confirmAtTheSameTimeDeductsOnce() throws Exception {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.create(line("A", 3));
		List<Answer> answers = Clients.call(8, (i) -> Answer.whenServed(() -> this.warehouse.confirm(orderNo)));
		assertThat(answers).extracting(Answer::status).containsOnly(200);
		assertThat(answers).filteredOn((answer) -> !answer.<Boolean>read("$.alreadyConfirmed")).hasSize(1);
		this.warehouse.assertStock("A", 7);
	}

	@Test
	void confirmWhenStockIsInsufficientDeductsNothing() {
		this.warehouse.receive("A", 10);
		this.warehouse.receive("B", 10);
		String orderNo = this.warehouse.create(line("A", 1), line("B", 6), line("B", 5), line("C", 1));
		this.warehouse.problem(this.warehouse.confirm(orderNo), 409, "insufficient-stock")
			.jsonPath("$.shortages[*].sku")
			.isEqualTo(List.of("B", "C"))
			.jsonPath("$.shortages[0].requested")
			.isEqualTo(11)
			.jsonPath("$.shortages[0].available")
			.isEqualTo(10);
		this.warehouse.assertStock("A", 10);
		this.warehouse.assertStock("B", 10);
		this.warehouse.assertStatus(orderNo, "CREATED");
	}

	@Test
	void confirmWhenLockIsHeldIsBusy() {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.create(line("B", 1), line("A", 1));
		this.locks.run(this.warehouse.key("A"), () -> {
			ResponseSpec response = this.warehouse.confirm(orderNo);
			response.expectHeader().valueEquals(HttpHeaders.RETRY_AFTER, "1");
			this.warehouse.problem(response, 503, "busy")
				.jsonPath("$.key")
				.isEqualTo(this.warehouse.key("A"))
				.jsonPath("$.reason")
				.isEqualTo("BUSY");
		});
		this.warehouse.assertStock("A", 10);
	}

	@Test
	void receiveWhenLockIsHeldIsBusy() {
		this.warehouse.receive("A", 10);
		this.locks.run(this.warehouse.key("A"), () -> this.warehouse
			.problem(this.warehouse.post("/inventory/receipts", this.warehouse.receipt("A", 5)), 503, "busy"));
		this.warehouse.assertStock("A", 10);
	}

	@Test
	void confirmWhenLockStoreFailsIsUnavailable() {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.create(line("A", 1));
		this.database.hideTable();
		try {
			this.warehouse.problem(this.warehouse.confirm(orderNo), 503, "lock-store-down");
		}
		finally {
			this.database.showTable();
		}
		this.warehouse.assertStock("A", 10);
		this.warehouse.assertConfirms(orderNo, false);
	}

	@Test
	void unknownOrderIsNotFound() {
		this.warehouse.problem(this.warehouse.confirm("none"), 404, "unknown-order")
			.jsonPath("$.orderNo")
			.isEqualTo("none");
		this.warehouse.problem(this.warehouse.get("/orders/{orderNo}", "none"), 404, "unknown-order");
	}

	@Test
	void unknownStockIsNotFound() {
		this.warehouse.problem(this.warehouse.get("/inventory/{customerNo}/W1/none", this.warehouse.customerNo()), 404,
				"unknown-stock");
	}

	@Test
	void badInputNamesEachField() {
		this.warehouse
			.problem(this.warehouse.post("/orders", this.warehouse.order("O 1", line("A", 0))), 400, "invalid-request")
			.jsonPath("$.errors.orderNo")
			.exists()
			.jsonPath("$.errors['lines[0].quantity']")
			.exists();
		this.warehouse.problem(this.warehouse.post("/orders", this.warehouse.order("O1")), 400, "invalid-request")
			.jsonPath("$.errors.lines")
			.exists();
		this.warehouse
			.problem(this.warehouse.post("/inventory/receipts", this.warehouse.receipt("A:B", 1)), 400,
					"invalid-request")
			.jsonPath("$.errors.sku")
			.exists();
		this.warehouse.post("/orders", "{").expectStatus().isBadRequest();
	}

}
