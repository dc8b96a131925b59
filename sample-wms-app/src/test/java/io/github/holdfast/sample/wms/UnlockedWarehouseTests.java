package io.github.holdfast.sample.wms;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.holdfast.LockTemplate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The control: without locks the same calls do harm, sooner or later.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "holdfast.enabled=false", "wms.stock-report.cron=-",
				"spring.datasource.url=jdbc:h2:mem:unlocked;DB_CLOSE_DELAY=-1",
				"logging.level.org.apache.catalina.core.ContainerBase=off" })
@AutoConfigureRestTestClient
@DirtiesContext
class UnlockedWarehouseTests {

	private Warehouse warehouse;

	private LockDatabase database;

	@Autowired
	void setUp(RestTestClient client, JdbcTemplate jdbc, PlatformTransactionManager transactions) {
		this.warehouse = new Warehouse(client);
		this.database = new LockDatabase(jdbc, transactions);
	}

	@Test
	void transfersLoseMoneyOrMakeIt() {
		AccountTests accounts = () -> this.warehouse;
		accounts.deposit("A", 1000);
		accounts.deposit("B", 1000);
		awaitHarm(() -> {
			Clients.call(32, (i) -> (i % 2 == 0) ? accounts.transfer("A", "B", 1) : accounts.transfer("B", "A", 1));
			return accounts.balance("A") + accounts.balance("B") != 2000;
		});
	}

	@ParameterizedTest
	@EnumSource
	void repeatsAreDoneAgain(RequestTests.Kind kind) {
		RequestTests requests = new RequestTests() {

			@Override
			public Warehouse warehouse() {
				return UnlockedWarehouseTests.this.warehouse;
			}

			@Override
			public LockDatabase database() {
				return UnlockedWarehouseTests.this.database;
			}

		};
		kind.prepare(this.warehouse);
		awaitHarm(() -> {
			long earlier = kind.done(this.warehouse, this.database);
			requests.send(kind, RequestTests.newId());
			return kind.done(this.warehouse, this.database) > earlier + 1;
		});
	}

	@Test
	void flashSalesSellTooMuch() {
		SaleTests sales = new SaleTests() {

			@Override
			public Warehouse warehouse() {
				return UnlockedWarehouseTests.this.warehouse;
			}

			@Override
			public LockDatabase database() {
				return UnlockedWarehouseTests.this.database;
			}

			@Override
			public LockTemplate locks() {
				throw new UnsupportedOperationException();
			}

		};
		AtomicInteger rounds = new AtomicInteger();
		awaitHarm(() -> {
			String sku = "HOT-" + rounds.incrementAndGet();
			this.warehouse.receive(sku, SaleTests.PIECES);
			sales.sell(sku);
			Map<String, Integer> bought = this.database.bought(this.warehouse.customerNo(), sku);
			return bought.values().stream().mapToInt(Integer::intValue).sum() > SaleTests.PIECES
					|| bought.values().stream().anyMatch((quantity) -> quantity > SaleTests.LIMIT);
		});
	}

	@Test
	void mergesAreLost() {
		ItemTests items = () -> this.warehouse;
		items.merge("{}");
		awaitHarm(() -> {
			String round = UUID.randomUUID().toString();
			List<Integer> merged = Clients.call(16,
					(i) -> items.merge("{\"" + round + i + "\": true}").status() == 200 ? i : -1);
			String stored = items.item().body();
			return merged.stream().anyMatch((i) -> i >= 0 && !stored.contains(round + i + "\""));
		});
	}

	@Test
	void reportsAreTakenAgain() {
		assertThat(Answer.of(this.warehouse.post("/stock-reports", "")).status()).isEqualTo(201);
		assertThat(Answer.of(this.warehouse.post("/stock-reports", "")).status()).isEqualTo(201);
	}

	private static void awaitHarm(Callable<Boolean> round) {
		Awaitility.await().pollInSameThread().pollDelay(Duration.ZERO).atMost(Duration.ofMinutes(2)).until(round);
	}

}
