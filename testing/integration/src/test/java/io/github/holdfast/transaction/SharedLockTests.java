package io.github.holdfast.transaction;

import java.util.function.BiConsumer;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

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
	void lossIsExplainedByTheLease(TestDatabase database) {
		try (FaultProxy network = new FaultProxy(this.server.port())) {
			run(application(database, network.port(), CommitGuardLevel.FENCE)
				.withPropertyValues("holdfast.zookeeper.session-timeout=4s"), (context, shared) -> {
					TransactionTemplate transaction = new TransactionTemplate(
							context.getBean(PlatformTransactionManager.class));
					transaction.setReadOnly(true);
					assertThatExceptionOfType(LockLostException.class)
						.isThrownBy(() -> shared.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
							network.inject(FaultProxy.Fault.BLACKHOLE);
							LockContext lock = LockContext.current().orElseThrow();
							await().until(() -> !lock.isValid());
							afterCompletion(() -> network.inject(FaultProxy.Fault.NONE));
						})))
						.withMessageContaining("its lease has run out by the clock of this process");
				});
		}
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
		run(application(database, this.server.port(), level), test);
	}

	private static void afterCompletion(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				action.run();
			}

		});
	}

	private static ApplicationContextRunner application(TestDatabase database, int port, CommitGuardLevel level) {
		return LockedApplication.zooKeeper(database.newDatabase(), "127.0.0.1:" + port)
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.jdbc.initialize-schema=always");
	}

	private static void run(ApplicationContextRunner application, BiConsumer<ApplicationContext, LockTemplate> test) {
		application
			.run((context) -> test.accept(context, context.getBean(LockTemplate.class).withMode(LockMode.SHARED)));
	}

}
