package io.github.holdfast.sample.wms;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpHeaders;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the service does when everybody wants the same article.
 */
interface SaleTests {

	int PIECES = 150;

	int LIMIT = 2;

	int BUYERS = 100;

	int REQUESTS = 400;

	/** More than may wait for a key. */
	int WAITERS = 150;

	Warehouse warehouse();

	LockDatabase database();

	LockTemplate locks();

	@Test
	default void flashSaleSellsAllThereIsAndNobodyGetsMoreThanTheLimit() throws Exception {
		warehouse().receive("HOT", PIECES);
		List<Answer> answers = sell("HOT");
		assertThat(answers).extracting(Answer::status).containsOnly(200, 409);
		assertThat(answers).filteredOn((answer) -> answer.status() == 409)
			.extracting((answer) -> answer.<String>read("$.type"))
			.containsOnly("urn:problem:wms:insufficient-stock", "urn:problem:wms:limit-exceeded");
		Map<String, Integer> bought = database().bought(warehouse().customerNo(), "HOT");
		assertThat(bought.values()).allMatch((quantity) -> quantity <= LIMIT);
		assertThat(bought.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(PIECES);
		warehouse().assertStock("HOT", 0);
	}

	@Test
	default void purchaseOfMoreThanTheLimitSellsNothing() {
		warehouse().receive("A", PIECES);
		warehouse().problem(buy("A", "B", 1, LIMIT + 1), 409, "limit-exceeded");
		buy("A", "B", 2, LIMIT).expectStatus().isOk();
		warehouse().problem(buy("A", "B", 3, 1), 409, "limit-exceeded");
		buy("A", "C", 1, 1).expectStatus().isOk();
		warehouse().assertStock("A", PIECES - LIMIT - 1);
	}

	/**
	 * More want the lock than may wait for it.
	 */
	@Test
	default void purchaseWhenQueueIsFullIsToldToComeAgain() throws Exception {
		warehouse().receive("A", PIECES);
		String key = warehouse().key("A");
		LockTemplate patient = locks().withWaitTime(Duration.ofMinutes(5));
		CountDownLatch full = new CountDownLatch(1);
		ExecutorService others = Executors.newFixedThreadPool(WAITERS);
		try {
			Answer answer = locks().execute(key, () -> {
				for (int i = 0; i < WAITERS; i++) {
					others.execute(() -> {
						try {
							patient.run(key, () -> {
							});
						}
						catch (LockNotAcquiredException ex) {
							full.countDown();
						}
					});
				}
				assertThat(full.await(2, TimeUnit.MINUTES)).isTrue();
				return Answer.of(buy("A", "B", 1, 1).expectHeader().valueEquals(HttpHeaders.RETRY_AFTER, "1"));
			});
			assertThat(answer.status()).isEqualTo(503);
			assertThat(answer.<String>read("$.type")).isEqualTo("urn:problem:wms:busy");
			assertThat(answer.<String>read("$.reason")).isEqualTo("QUEUE_FULL");
		}
		finally {
			others.shutdown();
		}
		assertThat(others.awaitTermination(5, TimeUnit.MINUTES)).isTrue();
		warehouse().assertStock("A", PIECES);
	}

	/**
	 * Each buyer sends three requests, and one of them twice, all at once.
	 */
	default List<Answer> sell(String sku) throws Exception {
		return Clients.callAtOnce(REQUESTS,
				(i) -> Answer.whenServed(() -> buy(sku, "B" + i % BUYERS, i / BUYERS % 3, 1)));
	}

	private ResponseSpec buy(String sku, String buyer, int number, int quantity) {
		return warehouse().post("/purchases", """
				{"requestId": "%1$s.%2$s.%3$s.%4$d", "buyerNo": "%3$s", "customerNo": "%1$s", "warehouseCode": "W1",
				 "sku": "%2$s", "quantity": %5$d}
				""".formatted(warehouse().customerNo(), sku, buyer, number, quantity));
	}

}
