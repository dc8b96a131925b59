package io.github.holdfast.sample.wms.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

import io.github.holdfast.sample.wms.WmsApplication;
import io.github.holdfast.sample.wms.stock.Stock;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.client.RestClient;

/**
 * Sells twenty pieces to sixty customers at once, without locks and with them, and prints
 * what came of it.
 */
public final class Demo {

	private static final int PIECES = 20;

	private static final int ORDERS = 60;

	private final RestClient client;

	private Demo(int port) {
		this.client = RestClient.builder()
			.baseUrl("http://localhost:" + port)
			.defaultStatusHandler((status) -> true, (request, response) -> {
			})
			.build();
	}

	/**
	 * Runs it.
	 */
	public static void main(String[] args) throws Exception {
		System.out.printf("%d orders at once for %d pieces%n", ORDERS, PIECES);
		System.out.println("without locks: " + sell(false));
		System.out.println("with locks:    " + sell(true));
	}

	private static String sell(boolean locks) throws Exception {
		SpringApplication application = new SpringApplication(WmsApplication.class);
		application.setBannerMode(Banner.Mode.OFF);
		try (ConfigurableApplicationContext context = application.run("--holdfast.enabled=" + locks,
				"--spring.datasource.url=jdbc:h2:mem:demo-" + locks, "--server.port=0", "--wms.stock-report.cron=-",
				"--logging.level.root=off")) {
			return new Demo(context.getEnvironment().getRequiredProperty("local.server.port", Integer.class)).sell();
		}
	}

	private String sell() throws Exception {
		post("/inventory/receipts", """
				{"requestId": "R-1", "customerNo": "C1", "warehouseCode": "W1", "sku": "SKU-1", "quantity": %d}"""
			.formatted(PIECES));
		for (int order = 1; order <= ORDERS; order++) {
			post("/orders", """
					{"orderNo": "O-%d", "customerNo": "C1", "warehouseCode": "W1",
					 "lines": [{"sku": "SKU-1", "quantity": 1}]}""".formatted(order));
		}
		Map<Integer, Integer> answers = confirmAll();
		return answers.entrySet()
			.stream()
			.map((answer) -> answer.getValue() + " x " + answer.getKey())
			.collect(Collectors.joining(", ")) + ", " + available() + " pieces left";
	}

	/**
	 * Confirm all orders at once, each on a thread of its own.
	 */
	private Map<Integer, Integer> confirmAll() throws Exception {
		ExecutorService customers = Executors.newFixedThreadPool(ORDERS);
		try {
			CountDownLatch ready = new CountDownLatch(ORDERS);
			List<Future<Integer>> calls = new ArrayList<>();
			for (int order = 1; order <= ORDERS; order++) {
				String confirmation = "/orders/O-" + order + "/confirm";
				calls.add(customers.submit(() -> {
					ready.countDown();
					ready.await();
					return post(confirmation, "");
				}));
			}
			Map<Integer, Integer> answers = new TreeMap<>();
			for (Future<Integer> call : calls) {
				answers.merge(call.get(), 1, Integer::sum);
			}
			return answers;
		}
		finally {
			customers.shutdownNow();
		}
	}

	private int post(String path, String body) {
		return this.client.post()
			.uri(path)
			.contentType(MediaType.APPLICATION_JSON)
			.body(body)
			.retrieve()
			.toBodilessEntity()
			.getStatusCode()
			.value();
	}

	private long available() {
		return this.client.get().uri("/inventory/C1/W1/SKU-1").retrieve().requiredBody(Stock.class).available();
	}

}
