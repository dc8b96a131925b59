package io.github.holdfast.transaction;

import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.ResourcelessTransactionManager;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The transaction around a locked call is that of a manager which has no resources, as
 * the one of a step of Spring Batch: nothing can be read or committed in it.
 */
@Timeout(180)
class ResourcelessManagerTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@EnumSource
	void callInItsTransactionCommitsItsOwn(TestDatabase database) {
		application(database).run((context) -> assertCallWorks(context, new ResourcelessTransactionManager()));
	}

	@ParameterizedTest
	@EnumSource
	void managerMayBeABean(TestDatabase database) {
		application(database).withUserConfiguration(TwoManagers.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertCallWorks(context, context.getBean(ResourcelessTransactionManager.class));
		});
	}

	@Test
	void managerMayBeListedAsUnguarded() {
		application(TestDatabase.H2).withUserConfiguration(TwoManagers.class)
			.withPropertyValues("holdfast.transaction-managers.steps=lease")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertCallWorks(context, context.getBean(ResourcelessTransactionManager.class));
			});
	}

	private static void assertCallWorks(ApplicationContext context, PlatformTransactionManager manager) {
		StockService stock = context.getBean(StockService.class);
		new TransactionTemplate(manager).executeWithoutResult((status) -> {
			stock.take("A", () -> {
			});
			assertThat(CompletableFuture.supplyAsync(() -> stock.quantity("A")).join()).isEqualTo(99);
		});
		assertThat(stock.quantity("A")).isEqualTo(99);
	}

	private ApplicationContextRunner application(TestDatabase database) {
		return RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always")
			.withBean(StockService.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		ResourcelessTransactionManager steps() {
			return new ResourcelessTransactionManager();
		}

	}

}
