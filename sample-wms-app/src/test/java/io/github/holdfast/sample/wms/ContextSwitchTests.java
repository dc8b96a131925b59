package io.github.holdfast.sample.wms;

import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.sample.wms.inventory.InventoryService;
import io.github.holdfast.sample.wms.inventory.Receipt;
import io.github.holdfast.sample.wms.inventory.Stock;
import io.github.holdfast.sample.wms.inventory.StockId;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContextManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two test classes with a context each, in turns: Spring's test framework pauses the one
 * that is not used.
 */
class ContextSwitchTests {

	@Test
	void receiptsWaitForTheStockInEachContextThatComesBack() throws Exception {
		try {
			ApplicationContext first = receiveWhileTheStockIsLocked(First.class);
			ApplicationContext second = receiveWhileTheStockIsLocked(Second.class);
			assertThat(second).isNotSameAs(first);
			assertThat(receiveWhileTheStockIsLocked(First.class)).isSameAs(first);
			assertThat(receiveWhileTheStockIsLocked(Second.class)).isSameAs(second);
		}
		finally {
			close(First.class);
			close(Second.class);
		}
	}

	/**
	 * Does what JUnit does with a test class.
	 */
	private static ApplicationContext receiveWhileTheStockIsLocked(Class<? extends OneTest> type) throws Exception {
		TestContextManager manager = new TestContextManager(type);
		OneTest test = type.getDeclaredConstructor().newInstance();
		manager.beforeTestClass();
		try {
			manager.prepareTestInstance(test);
			StockId id = new StockId("C-" + UUID.randomUUID(), "W1", "A");
			CompletableFuture<Stock> receipt = test.locks.execute(id.lockKey(), () -> startReceipt(test.inventory, id));
			assertThat(receipt.get(60, TimeUnit.SECONDS)).isEqualTo(test.inventory.get(id));
			return manager.getTestContext().getApplicationContext();
		}
		finally {
			manager.afterTestClass();
		}
	}

	private static CompletableFuture<Stock> startReceipt(InventoryService inventory, StockId id) {
		CompletableFuture<Stock> receipt = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				receipt.complete(inventory
					.receive(new Receipt("R-" + UUID.randomUUID(), id.customerNo(), id.warehouseCode(), id.sku(), 10)));
			}
			catch (RuntimeException ex) {
				receipt.completeExceptionally(ex);
			}
		}, "receipt");
		thread.setDaemon(true);
		thread.start();
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> receipt.isDone() || isQueued(thread));
		return receipt;
	}

	static boolean isQueued(Thread thread) {
		return Arrays.stream(thread.getStackTrace())
			.anyMatch(
					(frame) -> frame.getClassName().endsWith("KeyedPermits") && frame.getMethodName().equals("await"));
	}

	private static void close(Class<?> type) {
		TestContextManager manager = new TestContextManager(type);
		if (manager.getTestContext().hasApplicationContext()) {
			manager.getTestContext().markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
		}
	}

	@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = { "holdfast.wait-time=60s",
			"wms.stock-report.cron=-", "spring.datasource.url=jdbc:h2:mem:context-switch-1;LOCK_TIMEOUT=30000" })
	static class First extends OneTest {

	}

	@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = { "holdfast.wait-time=60s",
			"wms.stock-report.cron=-", "spring.datasource.url=jdbc:h2:mem:context-switch-2;LOCK_TIMEOUT=30000" })
	static class Second extends OneTest {

	}

	@SuppressWarnings("NullAway.Init")
	static class OneTest {

		@Autowired
		private LockTemplate locks;

		@Autowired
		private InventoryService inventory;

	}

}
