package io.github.holdfast.sample.wms;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.holdfast.sample.wms.Warehouse.Answer;
import io.github.holdfast.testsupport.ChildJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static io.github.holdfast.sample.wms.Warehouse.atOnce;
import static io.github.holdfast.sample.wms.Warehouse.line;
import static org.assertj.core.api.Assertions.assertThat;

/** The jar of profile {@code aot} answers and sells as the other one does. */
@Timeout(900)
class AheadOfTimeIT {

	/** A busy machine starts a service slowly. */
	private static final Duration PATIENCE = Duration.ofMinutes(5);

	private static final int ITEMS = 20;

	private static final int ORDERS = 60;

	@Test
	void generatedBeansAnswerAsThoseFoundAtTheStart() throws Exception {
		List<Answer> answers = answers(true, "Starting AOT-processed WmsApplication");
		assertThat(answers).extracting(Answer::status).contains(200, 201, 409);
		assertThat(answers).isEqualTo(answers(false, "Starting WmsApplication"));
	}

	private static List<Answer> answers(boolean aot, String start) throws Exception {
		// Because of -jar, the name of the class is one more argument, which the service
		// ignores
		List<String> options = List.of("-Dspring.aot.enabled=" + aot, "-jar", System.getProperty("wms.jar"));
		try (ChildJvm service = ChildJvm.start(options, WmsApplication.class, "--server.port=0",
				"--logging.pattern.console=%m%n", "--wms.stock-report.cron=-", "--holdfast.wait-time=2m")) {
			service.await(start, PATIENCE);
			String port = service.await("Tomcat started on port ", PATIENCE);
			service.await("Started WmsApplication", PATIENCE);
			Warehouse warehouse = new Warehouse(Integer.parseInt(port.substring(0, port.indexOf(' '))));
			sellsWhatThereIs(warehouse);
			return answers(warehouse);
		}
	}

	private static void sellsWhatThereIs(Warehouse warehouse) throws Exception {
		warehouse.receive("A", ITEMS);
		List<String> orders = IntStream.range(0, ORDERS).mapToObj((i) -> warehouse.newOrder(line("A", 1))).toList();
		assertThat(atOnce(ORDERS, (i) -> warehouse.confirm(orders.get(i)))).extracting(Answer::status)
			.containsOnly(200, 409)
			.filteredOn((status) -> status == 200)
			.hasSize(ITEMS);
		assertThat(warehouse.available("A")).isZero();
	}

	private static List<Answer> answers(Warehouse warehouse) {
		List<Answer> answers = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			answers.add(warehouse.post("/inventory/receipts",
					"""
							{"requestId": "R-1", "customerNo": "C1", "warehouseCode": "W1", "sku": "SKU-1", "quantity": 10}"""));
		}
		answers.add(warehouse.post("/orders", """
				{"orderNo": "O-1", "customerNo": "C1", "warehouseCode": "W1",
				 "lines": [{"sku": "SKU-1", "quantity": 3}]}"""));
		answers.add(warehouse.confirm("O-1"));
		answers.add(warehouse.confirm("O-1"));
		for (String requestId : List.of("R-2", "R-3")) {
			answers.add(warehouse.post("/purchases", """
					{"requestId": "%s", "buyerNo": "B-1", "customerNo": "C1", "warehouseCode": "W1", "sku": "SKU-1",
					 "quantity": 2}""", requestId));
		}
		answers.add(warehouse.get("/inventory/C1/W1"));
		for (String account : List.of("A-1", "A-2")) {
			answers.add(warehouse.post("/accounts/deposits", """
					{"requestId": "R-%s", "accountNo": "%s", "amount": 1000}""", account, account));
		}
		answers.add(warehouse.post("/accounts/transfers", """
				{"requestId": "R-4", "from": "A-1", "to": "A-2", "amount": 300}"""));
		answers.add(warehouse.post("/orders", """
				{"orderNo": "O-2", "customerNo": "C1", "warehouseCode": "W1",
				 "lines": [{"sku": "SKU-1", "quantity": 0}]}"""));
		answers.add(warehouse.get("/actuator/locks"));
		answers.add(warehouse.get("/actuator/health"));
		return answers;
	}

}
