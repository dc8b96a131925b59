package io.github.holdfast.transaction;

import java.util.function.BiConsumer;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Transactions under a lock that others share.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
@Tag("F42")
class SharedLockTests {

	private final ZooKeeperServer server = ZooKeeperServer.start();

	@AfterAll
	void stop() {
		this.server.close();
	}

	@ParameterizedTest
	@EnumSource
	void readOnlyTransactionsCommitAtFenceAndOthersDoNot(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (context, shared) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			stock.take("A", () -> {
			});
			assertThatIllegalStateException()
				.isThrownBy(() -> shared.run("stock:A",
						() -> transaction.executeWithoutResult((status) -> stock.write("A", 0))))
				.withMessageContaining("only read-only transactions may commit under it");
			transaction.setReadOnly(true);
			Integer quantity = shared.execute("stock:A", () -> transaction.execute((status) -> stock.quantity("A")));
			assertThat(quantity).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource
	@Tag("long")
	void transactionsCommitAtLease(TestDatabase database) {
		run(database, CommitGuardLevel.LEASE, (context, shared) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			shared.run("stock:A", () -> transaction.executeWithoutResult((status) -> stock.write("A", 7)));
			assertThat(stock.quantity("A")).isEqualTo(7);
		});
	}

	private void run(TestDatabase database, CommitGuardLevel level, BiConsumer<ApplicationContext, LockTemplate> test) {
		LockedApplication.zooKeeper(database.newDatabase(), "127.0.0.1:" + this.server.port())
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.fence.initialize-schema=always")
			.run((context) -> test.accept(context,
					context.getBean(LockTemplate.class).withMode(LockRequest.Mode.SHARED)));
	}

}
