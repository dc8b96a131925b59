package io.github.holdfast.sample.wms;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.sample.wms.order.Order;
import io.github.holdfast.sample.wms.order.Order.Line;
import io.github.holdfast.sample.wms.order.Order.Status;
import io.github.holdfast.sample.wms.order.OrderService;
import io.github.holdfast.sample.wms.stock.StockId;
import io.github.holdfast.sample.wms.stock.StockService;
import io.github.holdfast.sample.wms.stock.StockService.Receipt;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Two nodes confirm 200 orders for 50 items of each SKU: 50 with locks, more without. */
@Timeout(600)
class OversellTests {

	private static final int ITEMS = 50;

	private static final int ORDERS = 200;

	private static final int CLIENTS = 32;

	/** Orders that name the same SKUs in different sequences. */
	private static final List<List<String>> SKUS = List.of(List.of("A", "B"), List.of("B", "A"));

	/** Without locks, several SKUs would end in deadlocks of the database. */
	private static final List<List<String>> ONE_SKU = List.of(List.of("A"));

	@ParameterizedTest
	@CsvSource({ "H2, jdbc", "MARIADB, jdbc" })
	void nodesSellWhatThereIs(TestDatabase database, String backend) throws Exception {
		try (Nodes nodes = Nodes.start(database.newDatabase(), "--holdfast.backend=" + backend,
				"--holdfast.wait-time=2m")) {
			assertThat(nodes.sell(SKUS)).isEqualTo(ITEMS);
			assertThat(nodes.available()).containsOnly(0L);
		}
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, jdbc", "POSTGRESQL, redis", "MARIADB, redisson" })
	@Tag("long")
	void nodesSellWhatThereIsWithEachStore(TestDatabase database, String backend) throws Exception {
		try (RedisServer redis = RedisServer.start();
				Nodes nodes = Nodes.start(database.newDatabase(), "--spring.data.redis.port=" + redis.port(),
						backend.equals("jdbc") ? "" : "--spring.profiles.active=" + backend,
						"--holdfast.wait-time=2m")) {
			assertThat(nodes.sell(SKUS)).isEqualTo(ITEMS);
			assertThat(nodes.available()).containsOnly(0L);
		}
	}

	@ParameterizedTest
	@EnumSource
	void nodesWithoutLocksOversell(TestDatabase database) throws Exception {
		try (Nodes nodes = Nodes.start(database.newDatabase(), "--holdfast.enabled=false")) {
			Awaitility.await().pollInSameThread().atMost(5, TimeUnit.MINUTES).until(() -> nodes.sell(ONE_SKU) > ITEMS);
		}
	}

	/** Two application contexts on one database: they have nothing in common but that. */
	private static final class Nodes implements AutoCloseable {

		private final List<ConfigurableApplicationContext> nodes = new ArrayList<>();

		private String customerNo = "";

		static Nodes start(DatabaseAccess database, String... arguments) {
			Nodes nodes = new Nodes();
			List<String> all = new ArrayList<>(List.of(arguments));
			all.removeIf(String::isEmpty);
			all.addAll(List.of("--spring.datasource.url=" + database.url(),
					"--spring.datasource.username=" + database.user(),
					"--spring.datasource.password=" + database.password(), "--wms.stock-report.cron=-"));
			for (int i = 0; i < 2; i++) {
				nodes.nodes.add(new SpringApplicationBuilder(WmsApplication.class).web(WebApplicationType.NONE)
					.run(all.toArray(String[]::new)));
			}
			return nodes;
		}

		/** Confirms all orders of a new customer, and counts what was confirmed. */
		long sell(List<List<String>> orders) throws Exception {
			this.customerNo = "C-" + UUID.randomUUID();
			for (String sku : orders.get(0)) {
				bean(0, StockService.class)
					.receive(new Receipt("R-" + UUID.randomUUID(), this.customerNo, "W1", sku, ITEMS));
			}
			for (int i = 0; i < ORDERS; i++) {
				bean(0, OrderService.class).create(new Order(this.customerNo + i, this.customerNo, "W1", Status.CREATED,
						orders.get(i % orders.size()).stream().map((sku) -> new Line(sku, 1)).toList()));
			}
			List<Long> confirmed = Warehouse.atOnce(CLIENTS, this::confirmEachOf);
			return confirmed.stream().mapToLong(Long::longValue).sum();
		}

		private long confirmEachOf(int client) {
			long confirmed = 0;
			for (int i = client; i < ORDERS; i += CLIENTS) {
				try {
					bean(client, OrderService.class).confirm(this.customerNo + i);
					confirmed++;
				}
				catch (ProblemException ex) {
					assertThat(ex).hasMessageContaining("Not enough stock");
				}
			}
			return confirmed;
		}

		List<Long> available() {
			return SKUS.get(0)
				.stream()
				.map((sku) -> bean(1, StockService.class).get(new StockId(this.customerNo, "W1", sku)).available())
				.toList();
		}

		private <T> T bean(int client, Class<T> type) {
			return this.nodes.get(client % this.nodes.size()).getBean(type);
		}

		@Override
		public void close() {
			this.nodes.forEach(ConfigurableApplicationContext::close);
		}

	}

}
