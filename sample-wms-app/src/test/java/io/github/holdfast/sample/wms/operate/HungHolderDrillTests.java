package io.github.holdfast.sample.wms.operate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.jayway.jsonpath.JsonPath;
import io.github.holdfast.sample.wms.WmsApplication;
import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A drill for operators. One node hangs in the middle of a stocktake, and keeps the lock
 * of that stock. On another node the meters tell that somebody waits, and the endpoint
 * for whom; the holder is evicted there; somebody puts the stock right; and when the
 * first node goes on, what it writes is refused, and counted.
 *
 * <p>
 * Without the eviction it would not be: who only removes the lock from Redis loses what
 * was put right.
 */
@Timeout(900)
@Tag("long")
class HungHolderDrillTests {

	private static final Duration PATIENCE = Duration.ofMinutes(5);

	private static final String PENDING = "holdfast.locks.pending";

	private static final RedisServer redis = RedisServer.start();

	private static ConfigurableApplicationContext node;

	private static ChildJvm hanging;

	private static RestTestClient client;

	/** Of the node that hangs, which answers only while it does not. */
	private static RestTestClient other;

	private static JdbcClient jdbc;

	@BeforeAll
	static void startTwoNodes() throws Exception {
		DatabaseAccess database = TestDatabase.H2.newRemoteDatabase();
		List<String> arguments = new ArrayList<>(
				List.of("--server.port=0", "--spring.profiles.active=redis,operate", "--wms.stock-report.cron=-",
						"--spring.datasource.url=" + database.url(), "--spring.datasource.username=" + database.user(),
						"--spring.datasource.password=" + database.password(),
						"--spring.data.redis.port=" + redis.port(), "--holdfast.lease-time=10m",
						"--holdfast.wait-time=1m", "--management.endpoint.locks.access=unrestricted"));
		node = new SpringApplicationBuilder(WmsApplication.class).run(arguments.toArray(String[]::new));
		client = client(node.getEnvironment().getRequiredProperty("local.server.port"));
		jdbc = node.getBean(JdbcClient.class);
		hanging = ChildJvm.start(StocktakeNode.class, arguments.toArray(String[]::new));
		other = client(hanging.await("port ", PATIENCE));
	}

	private static RestTestClient client(String port) {
		return RestTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
	}

	@AfterAll
	static void stop() {
		if (hanging != null) {
			hanging.close();
		}
		if (node != null) {
			node.close();
		}
		redis.close();
	}

	@Test
	void evictedHolderDoesNotOverwriteWhatWasPutRight() throws Exception {
		String key = receive("EVICTED", 20);
		startCounting(key, 20);
		double lost = meter(other, "holdfast.locks.lost?tag=lock.name:stocktake");
		hanging.pause();

		// The alarm: a delivery of the same article waits
		assertThat(meter(client, PENDING)).isZero();
		CompletableFuture<String> delivery = CompletableFuture.supplyAsync(() -> receive("EVICTED", 3));
		await().atMost(PATIENCE).until(() -> meter(client, PENDING) == 1);

		// Who holds it?
		Map<?, ?> holder = holder(key);
		assertThat((String) holder.get("text")).contains(hanging.pid() + "@");

		// Away with it
		client.delete()
			.uri("/actuator/locks/{key}?owner={owner}&epoch={epoch}", key, holder.get("owner"), holder.get("epoch"))
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.outcome")
			.isEqualTo("EVICTED");

		// What has waited goes on
		assertThat(delivery.get(1, TimeUnit.MINUTES)).isEqualTo(key);
		assertThat(meter(client, PENDING)).isZero();
		assertThat(lock(key).get("holders")).isEqualTo(Map.of());

		// Somebody has looked: there are 15
		putRight("EVICTED", 15);

		// The node wakes up, and writes the 19 that were counted before
		goOn("19");
		assertThat(hanging.await("refused ", PATIENCE)).isEqualTo("LockLostException");
		assertThat(meter(other, "holdfast.locks.lost?tag=lock.name:stocktake")).isEqualTo(lost + 1);
		assertThat(stock("EVICTED")).isEqualTo(15);
	}

	/**
	 * The control.
	 */
	@Test
	void holderWhoseLockIsOnlyRemovedFromRedisDoes() throws Exception {
		String key = receive("REMOVED", 20);
		startCounting(key, 20);
		hanging.pause();
		assertThat(node.getBean(StringRedisTemplate.class).delete("{lock:" + key + "}")).isTrue();
		assertThat(lock(key).get("holders")).isEqualTo(Map.of());
		putRight("REMOVED", 15);
		goOn("19");
		hanging.await("written", PATIENCE);
		assertThat(stock("REMOVED")).isEqualTo(19);
	}

	private static String receive(String sku, int quantity) {
		client.post().uri("/inventory/receipts").contentType(MediaType.APPLICATION_JSON).body("""
				{"requestId": "%s", "customerNo": "C", "warehouseCode": "W1", "sku": "%s", "quantity": %d}
				""".formatted(UUID.randomUUID(), sku, quantity)).exchange().expectStatus().isOk();
		return "inventory:C:W1:" + sku;
	}

	private static void startCounting(String key, int books) throws InterruptedException {
		hanging.send(key);
		assertThat(hanging.await("counting ", PATIENCE)).isEqualTo(String.valueOf(books));
	}

	private static void goOn(String counted) {
		hanging.resume();
		hanging.send(counted);
	}

	/**
	 * The sum over the locks of a node.
	 */
	private static double meter(RestTestClient node, String meter) {
		String answer = node.get()
			.uri("/actuator/metrics/" + meter)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		return JsonPath.<Double>read(answer, "$.measurements[0].value");
	}

	private static Map<?, ?> holder(String key) {
		return (Map<?, ?>) ((Map<?, ?>) lock(key).get("holders")).get("redis");
	}

	private static Map<?, ?> lock(String key) {
		Map<?, ?> lock = client.get()
			.uri("/actuator/locks/{key}", key)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(Map.class)
			.returnResult()
			.getResponseBody();
		assertThat(lock).isNotNull();
		return lock;
	}

	private static void putRight(String sku, int quantity) {
		jdbc.sql("update tb_inventory set available_inventory = ? where sku = ?").params(quantity, sku).update();
	}

	private static int stock(String sku) {
		return jdbc.sql("select available_inventory from tb_inventory where sku = ?")
			.param(sku)
			.query(Integer.class)
			.single();
	}

}
