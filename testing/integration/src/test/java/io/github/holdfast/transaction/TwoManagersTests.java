package io.github.holdfast.transaction;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import javax.sql.DataSource;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A manager suspends its own transactions only. The connection of another one stays bound
 * to the thread, and whoever uses its {@code DataSource} works in it.
 */
class TwoManagersTests {

	@Tag("F54")
	@Test
	void methodOfAnotherManagerDoesNotLeaveTheTransaction() {
		run((context, service) -> transaction(context, "transactionManager").executeWithoutResult((status) -> {
			for (ThrowingCallable call : List.<ThrowingCallable>of(service::takeInNewOfOther,
					service::takeInNoneOfOther)) {
				assertThatIllegalStateException().isThrownBy(call)
					.withMessageContaining("'transactionManager'")
					.withMessageContaining("unguarded-transaction-managers");
			}
		}));
	}

	/**
	 * The guard comes back with the next lock, too late for the transaction around it.
	 */
	@Tag("F54")
	@Test
	void transactionThatHasBegunWhenTheListenersHadBeenReplacedIsNotLeftEither() {
		run((context, service) -> {
			replaceListeners(context);
			transaction(context, "transactionManager").executeWithoutResult(
					(status) -> assertThatIllegalStateException().isThrownBy(service::takeInNewOfOther)
						.withMessageContaining("setTransactionExecutionListeners"));
			assertThat(service.quantity()).isEqualTo(100);
		});
	}

	@Tag("F54")
	@Test
	void transactionThatHasBegunUnseenIsLeftByItsOwnManager() {
		run((context, service) -> {
			replaceListeners(context);
			transaction(context, "transactionManager").executeWithoutResult((status) -> service.takeInNew());
			assertThat(service.quantity()).isEqualTo(99);
		});
	}

	@Tag("F54")
	@Test
	void methodOfTheSameManagerLeavesTheTransaction() {
		run((context, service) -> {
			transaction(context, "transactionManager").executeWithoutResult((status) -> {
				service.takeInNew();
				service.takeInNone();
			});
			transaction(context, "other").executeWithoutResult((status) -> service.takeInNewOfOther());
			assertThat(service.quantity()).isEqualTo(97);
		});
	}

	/**
	 * Whatever manager it uses, and without a transaction, too.
	 */
	@Tag("F54")
	@Test
	void transactionIsSuspendedForABodyOutsideOfIt() {
		run((context, service) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withPropagation(Propagation.REQUIRES_NEW);
			transaction(context, "transactionManager").executeWithoutResult((status) -> {
				locks.run("stock", () -> {
					TransactionTemplate own = transaction(context, "other");
					own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
					own.executeWithoutResult((inner) -> service.write());
				});
				CompletableFuture.runAsync(service::takeInNew).join();
			});
			assertThat(service.quantity()).isEqualTo(98);
		});
	}

	/**
	 * The transaction of the queue hides the one of the database around it.
	 */
	@Tag("F54")
	@Test
	void transactionBehindOneWithoutSqlIsSeen() {
		run((context, service) -> transaction(context, "transactionManager").executeWithoutResult((status) -> {
			TransactionTemplate queue = transaction(context, "queue");
			queue.executeWithoutResult((inner) -> assertThatIllegalStateException().isThrownBy(service::take)
				.withMessageContaining("'transactionManager'"));
		}));
	}

	private static void run(BiConsumer<ApplicationContext, Service> scenario) {
		LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withUserConfiguration(Managers.class)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("CREATE TABLE stock (quantity integer)");
				jdbc.update("INSERT INTO stock VALUES (100)");
				scenario.accept(context, context.getBean(Service.class));
			});
	}

	private static void replaceListeners(ApplicationContext context) {
		context.getBean(ConfigurableTransactionManager.class)
			.setTransactionExecutionListeners(List.of(new TransactionExecutionListener() {
			}));
	}

	private static TransactionTemplate transaction(ApplicationContext context, String manager) {
		return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class Managers {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTransactionManager other(DataSource dataSource) {
			return new JdbcTransactionManager(new DelegatingDataSource(dataSource));
		}

		@Bean
		ActiveTransactionTests.QueueTransactionManager queue() {
			return new ActiveTransactionTests.QueueTransactionManager();
		}

		@Bean
		Service service(JdbcTemplate jdbc) {
			return new Service(jdbc);
		}

	}

	static class Service {

		private final JdbcTemplate jdbc;

		Service(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional(transactionManager = "other", propagation = Propagation.REQUIRES_NEW)
		public void takeInNewOfOther() {
			write();
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional(transactionManager = "other", propagation = Propagation.NOT_SUPPORTED)
		public void takeInNoneOfOther() {
			write();
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void takeInNew() {
			write();
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void takeInNone() {
			write();
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional
		public void take() {
			write();
		}

		int quantity() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		void write() {
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity() - 1);
		}

	}

}
