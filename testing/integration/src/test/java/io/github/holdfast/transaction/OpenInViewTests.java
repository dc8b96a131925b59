package io.github.holdfast.transaction;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewFilter;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** A request reads over HTTP before it takes the lock; meanwhile, another one sells. */
@ExtendWith(OutputCaptureExtension.class)
class OpenInViewTests {

	/** With what is the default, and started once. */
	private static final Map<TestDatabase, Shop> shops = new EnumMap<>(TestDatabase.class);

	@AfterAll
	static void closeShops() {
		shops.values().forEach(Shop::close);
		shops.clear();
	}

	private static Shop shop(TestDatabase database) {
		Shop shop = shops.computeIfAbsent(database, (unused) -> new Shop(database, RecordedWebApplication.class));
		shop.fill();
		return shop;
	}

	@Test
	void updateIsLostWhenAllowed() {
		try (Shop shop = new Shop(TestDatabase.H2, WebApplication.class, "holdfast.jpa.stale-context=allow")) {
			assertThat(shop.lookAndTake()).isEqualTo(99);
			assertThat(shop.quantity()).as("two pieces were taken").isEqualTo(99);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void noUpdateIsLostByDefault(TestDatabase database) {
		Shop shop = shop(database);
		assertThat(shop.lookAndTake()).isEqualTo(98);
		assertThat(shop.quantity()).isEqualTo(98);
	}

	@ParameterizedTest
	@ValueSource(classes = { WebApplication.class, WebApplicationWithFilter.class })
	void noUpdateIsLostWithoutOpenInViewOrWhenAFilterHasOpenedTheView(Class<?> application) {
		try (Shop shop = new Shop(TestDatabase.H2, application, "spring.jpa.open-in-view=false")) {
			assertThat(shop.lookAndTake()).isEqualTo(98);
			assertThat(shop.quantity()).isEqualTo(98);
		}
	}

	/** The call has a context of its own, in the place of the view's. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void transactionLocksItsRow(TestDatabase database) {
		Shop shop = shop(database);
		shop.post("/take");
		shop.post("/take");
		RecordingDataSource recording = (RecordingDataSource) shop.context.getBean(DataSource.class);
		recording.clear();
		assertThat(shop.post("/take-between-looks")).isEqualTo(97);
		assertThat(recording.statements()).filteredOn((sql) -> sql.startsWith("UPDATE holdfast_lock"))
			.hasSize(1)
			.allMatch(TransactionLockTests::isLock);
	}

	/** The view's context is not that of the transaction which is rolled back. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void viewKeepsItsEntitiesWhenTheTransactionHasToWaitForALease(TestDatabase database) {
		Shop shop = shop(database);
		shop.post("/take");
		RecordingDataSource recording = (RecordingDataSource) shop.context.getBean(DataSource.class);
		JdbcTemplate jdbc = shop.context.getBean(JdbcTemplate.class);
		jdbc.update("UPDATE holdfast_lock SET owner = 1, expires_at = 4102444800000000");
		recording.clear();
		CompletableFuture<Integer> waiting = CompletableFuture.supplyAsync(() -> shop.post("/take-between-looks"));
		Awaitility.await()
			.atMost(1, TimeUnit.MINUTES)
			.until(() -> recording.statements().stream().anyMatch(TransactionLockTests::isLock));
		jdbc.update("UPDATE holdfast_lock SET owner = NULL, expires_at = 0");
		assertThat(waiting.join()).isEqualTo(98);
		assertThat(shop.quantity()).isEqualTo(98);
	}

	/** The running application and its database. */
	private static final class Shop implements AutoCloseable {

		private final ConfigurableApplicationContext context;

		private final RestClient client;

		Shop(TestDatabase database, Class<?> application, String... properties) {
			DatabaseAccess access = database.newDatabase();
			this.context = new SpringApplicationBuilder(application).properties(properties)
				.properties("spring.datasource.url=" + access.url(), "spring.datasource.username=" + access.user(),
						"spring.datasource.password=" + access.password(), "spring.flyway.enabled=false",
						"spring.jpa.hibernate.ddl-auto=update", "holdfast.backend=jdbc",
						"holdfast.jdbc.initialize-schema=always", "server.port=0", RecordingDataSource.GUARDED)
				.run();
			this.client = RestClient.builder()
				.baseUrl("http://localhost:" + this.context.getEnvironment().getRequiredProperty("local.server.port"))
				.requestFactory(new SimpleClientHttpRequestFactory())
				.build();
			this.context.getBean(JpaStockService.class).add("A", 100);
		}

		void fill() {
			this.context.getBean(JdbcTemplate.class).update("UPDATE stock SET quantity = 100 WHERE sku = 'A'");
		}

		int lookAndTake() {
			ShopController controller = this.context.getBean(ShopController.class);
			controller.looked = new CountDownLatch(1);
			controller.goOn = new CountDownLatch(1);
			CompletableFuture<Integer> slow = CompletableFuture.supplyAsync(() -> post("/look-and-take"));
			try {
				Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> controller.looked.getCount() == 0);
				assertThat(post("/take")).isEqualTo(99);
			}
			finally {
				controller.goOn.countDown();
			}
			return slow.join();
		}

		private int post(String path) {
			Integer quantity = this.client.post().uri(path + "?sku=A").retrieve().body(Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		int quantity() {
			return this.context.getBean(JdbcTemplate.class)
				.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
		}

		@Override
		public void close() {
			this.context.close();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(excludeName = {
			"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration" })
	@Import({ JpaStockService.class, ShopController.class })
	static class WebApplication {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(JpaStockService.Stock.class.getName());
		}

	}

	static class WebApplicationWithFilter extends WebApplication {

		@Bean
		OpenEntityManagerInViewFilter openEntityManagerInViewFilter() {
			return new OpenEntityManagerInViewFilter();
		}

	}

	@Import(RecordingDataSource.Beans.class)
	static class RecordedWebApplication extends WebApplication {

	}

	@RestController
	static class ShopController {

		private volatile CountDownLatch looked = new CountDownLatch(1);

		private volatile CountDownLatch goOn = new CountDownLatch(1);

		private final JpaStockService stock;

		ShopController(JpaStockService stock) {
			this.stock = stock;
		}

		@PostMapping("/take")
		int take(@RequestParam String sku) {
			return this.stock.take(sku);
		}

		@PostMapping("/look-and-take")
		int lookAndTake(@RequestParam String sku) {
			this.stock.look(sku);
			this.looked.countDown();
			Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> this.goOn.getCount() == 0);
			return this.stock.take(sku);
		}

		/** The view goes on with what it has read. */
		@PostMapping("/take-between-looks")
		int takeBetweenLooks(@RequestParam String sku) {
			JpaStockService.Stock seen = this.stock.find(sku);
			int quantity = this.stock.take(sku);
			assertThat(this.stock.isManaged(seen)).isTrue();
			assertThat(this.stock.look(sku)).isGreaterThan(quantity);
			return quantity;
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
		String refused(IllegalStateException ex) {
			return ex.getMessage();
		}

	}

}
