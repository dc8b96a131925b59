package io.github.holdfast.sample.wms.demo;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.holdfast.sample.wms.WmsApplication;
import io.github.holdfast.sample.wms.stock.Stock;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.client.RestClient;

/** Sells the same stock without locks and with locks, and prints the outcome. */
public final class Demo {

	private static final int ITEMS = 20;

	private static final int ORDERS = 60;

	private final RestClient client;

	private Demo(String port) {
		this.client = RestClient.builder()
			.baseUrl("http://localhost:" + port)
			.defaultStatusHandler((status) -> true, (request, response) -> {
			})
			.build();
	}

	public static void main(String[] args) throws Exception {
		System.out.printf("%d orders at once for %d items%n", ORDERS, ITEMS);
		System.out.println("without locks: " + sell(false));
		System.out.println("with locks:    " + sell(true));
	}

	private static String sell(boolean locks) throws Exception {
		SpringApplication application = new SpringApplication(WmsApplication.class);
		application.setBannerMode(Banner.Mode.OFF);
		try (ConfigurableApplicationContext context = application.run("--holdfast.enabled=" + locks,
				"--spring.datasource.url=jdbc:h2:mem:demo-" + locks, "--server.port=0", "--wms.stock-report.cron=-",
				"--logging.level.root=off")) {
			return new Demo(context.getEnvironment().getRequiredProperty("local.server.port")).sell();
		}
	}

	private String sell() throws Exception {
		post("/inventory/receipts", """
				{"requestId": "R-1", "customerNo": "C1", "warehouseCode": "W1", "sku": "SKU-1", "quantity": %d}"""
			.formatted(ITEMS));
		IntStream.range(0, ORDERS).forEach((order) -> post("/orders", """
				{"orderNo": "O-%d", "customerNo": "C1", "warehouseCode": "W1",
				 "lines": [{"sku": "SKU-1", "quantity": 1}]}""".formatted(order)));
		List<Callable<Integer>> confirmations = IntStream.range(0, ORDERS)
			.<Callable<Integer>>mapToObj((order) -> () -> post("/orders/O-" + order + "/confirm", ""))
			.toList();
		Map<Integer, Integer> answers = new TreeMap<>();
		ExecutorService customers = Executors.newFixedThreadPool(ORDERS);
		for (Future<Integer> answer : customers.invokeAll(confirmations)) {
			answers.merge(answer.get(), 1, Integer::sum);
		}
		customers.shutdown();
		Stock left = this.client.get().uri("/inventory/C1/W1/SKU-1").retrieve().requiredBody(Stock.class);
		return answers.entrySet()
			.stream()
			.map((answer) -> answer.getValue() + " x " + answer.getKey())
			.collect(Collectors.joining(", ", "", ", " + left.available() + " items left"));
	}

	private int post(String path, String json) {
		return this.client.post()
			.uri(path)
			.contentType(MediaType.APPLICATION_JSON)
			.body(json)
			.retrieve()
			.toBodilessEntity()
			.getStatusCode()
			.value();
	}

}
