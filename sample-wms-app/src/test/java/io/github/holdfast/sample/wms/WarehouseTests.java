package io.github.holdfast.sample.wms;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.sample.wms.Warehouse.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static io.github.holdfast.sample.wms.Warehouse.atOnce;
import static io.github.holdfast.sample.wms.Warehouse.line;
import static io.github.holdfast.sample.wms.Warehouse.newId;
import static org.assertj.core.api.Assertions.assertThat;

/** The warehouse service over HTTP. Subclasses choose the database and the lock store. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "holdfast.wait-time=30s", "holdfast.locks.stock.wait-time=5s", "wms.stock-report.cron=-",
				"wms.stock-report.min-hold-time=0s", "wms.sale.concurrency=4",
				"spring.datasource.url=jdbc:h2:mem:wms;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000" })
abstract class WarehouseTests {

	@LocalServerPort
	private int port;

	@Autowired
	private LockTemplate locks;

	@Autowired
	private JdbcClient jdbc;

	private Warehouse warehouse;

	@BeforeEach
	void setUp() {
		this.warehouse = new Warehouse(this.port);
	}

	@Test
	void receiptsAddToStock() {
		assertThat(this.warehouse.receive("A", 10).<Integer>read("$.available")).isEqualTo(10);
		assertThat(this.warehouse.receive("A", 5).<Integer>read("$.available")).isEqualTo(15);
		this.warehouse.receive("a", 1);
		assertThat(this.warehouse.get("/inventory/" + this.warehouse.customerNo() + "/W1")
			.<List<Integer>>read("$[*].available")).containsExactlyInAnyOrder(15, 1);
	}

	@Test
	void orderIsCreatedOnce() {
		assertThat(this.warehouse.create("O-1" + this.warehouse.customerNo(), line("A", 1)).status()).isEqualTo(201);
		assertThat(this.warehouse.create("O-1" + this.warehouse.customerNo(), line("A", 1)).status()).isEqualTo(200);
		assertThat(this.warehouse.create("O-1" + this.warehouse.customerNo(), line("A", 2)).problem())
			.isEqualTo("409 order-exists");
	}

	@Test
	void confirmationDeductsEachLineOnce() throws Exception {
		this.warehouse.receive("A", 10);
		this.warehouse.receive("B", 10);
		String orderNo = this.warehouse.newOrder(line("B", 1), line("A", 2), line("B", 3));
		List<Answer> answers = atOnce(8, (i) -> this.warehouse.confirm(orderNo));
		assertThat(answers).extracting(Answer::status).containsOnly(200);
		assertThat(answers).filteredOn((answer) -> !answer.<Boolean>read("$.alreadyConfirmed")).hasSize(1);
		assertThat(this.warehouse.get("/orders/" + orderNo).<String>read("$.status")).isEqualTo("CONFIRMED");
		assertThat(this.warehouse.available("A")).isEqualTo(8);
		assertThat(this.warehouse.available("B")).isEqualTo(6);
	}

	@Test
	void confirmationWithoutEnoughStockDeductsNothing() {
		this.warehouse.receive("A", 10);
		this.warehouse.receive("B", 10);
		String orderNo = this.warehouse.newOrder(line("A", 1), line("B", 6), line("B", 5), line("C", 1));
		Answer answer = this.warehouse.confirm(orderNo);
		assertThat(answer.problem()).isEqualTo("409 insufficient-stock");
		assertThat(answer.<Map<String, Integer>>read("$.missing")).isEqualTo(Map.of("B", 1, "C", 1));
		assertThat(this.warehouse.available("A")).isEqualTo(10);
		assertThat(this.warehouse.available("B")).isEqualTo(10);
	}

	@Test
	void busyStockIsNotChanged() {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.newOrder(line("B", 1), line("A", 1));
		this.locks.run(this.warehouse.key("A"), () -> {
			assertThat(this.warehouse.confirm(orderNo)).matches((answer) -> answer.problem().equals("503 busy"))
				.matches((answer) -> "1".equals(answer.retryAfter()));
			assertThat(this.warehouse.receive("A", 5).problem()).isEqualTo("503 busy");
		});
		assertThat(this.warehouse.available("A")).isEqualTo(10);
	}

	@Test
	void nothingChangesWhileTheLockTableIsMissing() {
		this.warehouse.receive("A", 10);
		String orderNo = this.warehouse.newOrder(line("A", 1));
		this.jdbc.sql("alter table holdfast_lock rename to holdfast_lock_gone").update();
		try {
			assertThat(this.warehouse.confirm(orderNo).problem()).isEqualTo("503 unavailable");
		}
		finally {
			this.jdbc.sql("alter table holdfast_lock_gone rename to holdfast_lock").update();
		}
		assertThat(this.warehouse.available("A")).isEqualTo(10);
		assertThat(this.warehouse.confirm(orderNo).status()).isEqualTo(200);
	}

	@Test
	void unknownThingsAreNotFound() {
		assertThat(this.warehouse.confirm("none").problem()).isEqualTo("404 unknown-order");
		assertThat(this.warehouse.get("/inventory/none/W1/none").problem()).isEqualTo("404 unknown-stock");
		assertThat(this.warehouse.get("/accounts/none").problem()).isEqualTo("404 unknown-account");
	}

	@Test
	void invalidFieldsAreNamed() {
		Answer answer = this.warehouse.create("O 1", line("A:B", 0));
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.<Map<String, String>>read("$.errors")).containsOnlyKeys("orderNo", "lines[0].sku",
				"lines[0].quantity");
		assertThat(this.warehouse.post("/orders", "{").status()).isEqualTo(400);
	}

	@Test
	void repeatedReceiptIsCarriedOutOnce() throws Exception {
		isCarriedOutOnce((i) -> this.warehouse.receive(this.warehouse.customerNo(), "A", 7));
		assertThat(this.warehouse.available("A")).isEqualTo(7);
		assertThat(this.warehouse.receive(this.warehouse.customerNo(), "A", 8).problem())
			.isEqualTo("409 request-id-reused");
	}

	@Test
	void repeatedDepositIsCarriedOutOnce() throws Exception {
		isCarriedOutOnce((i) -> this.warehouse.deposit(this.warehouse.customerNo(), "A", 7));
		assertThat(this.warehouse.balance("A")).isEqualTo(7);
	}

	private static void isCarriedOutOnce(IntFunction<Answer> request) throws Exception {
		List<Answer> answers = atOnce(16, request);
		assertThat(answers).extracting(Answer::status).containsOnly(200);
		assertThat(answers).containsOnly(answers.get(0));
	}

	@Test
	void transfersInBothDirectionsKeepTheSum() throws Exception {
		this.warehouse.deposit(newId(), "A", 30);
		this.warehouse.deposit(newId(), "B", 30);
		List<Answer> answers = atOnce(64, (i) -> this.warehouse.transfer(newId(), (i % 2 == 0) ? "A" : "B",
				(i % 2 == 0) ? "B" : "A", 1 + i % 13));
		assertThat(answers).filteredOn((answer) -> answer.status() != 200)
			.extracting(Answer::problem)
			.allMatch("409 insufficient-funds"::equals);
		assertThat(this.warehouse.balance("A")).isBetween(0, 60);
		assertThat(this.warehouse.balance("A") + this.warehouse.balance("B")).isEqualTo(60);
	}

	@Test
	void transferThatIsNotPossibleMovesNothing() {
		this.warehouse.deposit(newId(), "A", 100);
		this.warehouse.deposit(newId(), "B", 10);
		assertThat(this.warehouse.transfer(newId(), "A", "B", 101).problem()).isEqualTo("409 insufficient-funds");
		assertThat(this.warehouse.transfer(newId(), "A", "C", 1).problem()).isEqualTo("404 unknown-account");
		assertThat(this.warehouse.transfer(newId(), "A", "A", 1).problem()).isEqualTo("409 same-account");
		assertThat(this.warehouse.balance("A")).isEqualTo(100);
	}

	/** Ten buyers send nine requests each, a third of which are repeats, for 15 items. */
	@Test
	void flashSaleSellsAllItemsAndNoBuyerGetsMoreThanTheLimit() throws Exception {
		this.warehouse.receive("HOT", 15);
		List<Answer> answers = atOnce(90, (i) -> {
			Answer answer;
			do {
				answer = this.warehouse.buy(this.warehouse.customerNo() + i % 60, "HOT", "B-" + i % 10, 1);
			}
			while (answer.retryAfter() != null);
			return answer;
		});
		assertThat(answers).filteredOn((answer) -> answer.status() != 200)
			.extracting(Answer::problem)
			.allMatch((problem) -> problem.matches("409 (insufficient-stock|limit-exceeded)"));
		Map<String, Integer> bought = new TreeMap<>();
		this.jdbc.sql("select buyer_no, quantity from purchase where customer_no = ?")
			.param(this.warehouse.customerNo())
			.query((row) -> {
				bought.merge(row.getString(1), row.getInt(2), Integer::sum);
			});
		assertThat(bought.values()).allMatch((items) -> items <= 2);
		assertThat(bought.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(15);
		assertThat(this.warehouse.available("HOT")).isZero();
	}

	@Test
	void purchasesThatWouldWaitInACrowdAreRejectedAtOnce() throws Exception {
		this.warehouse.receive("HOT", 15);
		List<Answer> answers = this.locks.execute(this.warehouse.key("HOT"),
				() -> atOnce(8, (i) -> this.warehouse.buy(newId(), "HOT", "B-" + i, 1)));
		assertThat(answers).extracting(Answer::problem).containsOnly("503 busy");
		assertThat(answers).extracting(Answer::retryAfter).containsOnly("1");
		assertThat(this.warehouse.available("HOT")).isEqualTo(15);
	}

	@Test
	void reportCountsAllStock() {
		this.warehouse.receive("A", 10);
		assertThat(this.warehouse.post("/stock-reports", "").status()).isEqualTo(201);
		assertThat(this.warehouse.get("/stock-reports").<List<Integer>>read("$[*].items")).last()
			.matches((items) -> items >= 10);
		this.locks.run("stock-report",
				() -> assertThat(this.warehouse.post("/stock-reports", "").status()).isEqualTo(204));
	}

}
