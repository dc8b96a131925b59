package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locked calls inside a running transaction, and in its callbacks.
 */
class ActiveTransactionTests {

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withBean(Service.class);

	private final ApplicationContextRunner keeping = this.application
		.withPropertyValues("holdfast.on-active-transaction=release-after-completion");

	// Reject

	@Test
	void joiningARunningTransactionIsRefusedBeforeAnythingIsAcquired() {
		run(this.application, (service, context) -> {
			inTransaction(context,
					() -> assertThatIllegalStateException().isThrownBy(() -> service.required("A"))
						.withMessageContainingAll("Lock 'A'", "inside a running transaction", "REQUIRES_NEW",
								"'holdfast.on-active-transaction'", "'release-after-completion'",
								"remove @Transactional from the test"));
			assertThat(lockRows(context)).isZero();
		});
	}

	@Test
	void messageNamesTheRunningTransaction() {
		run(this.application,
				(service, context) -> assertThatIllegalStateException()
					.isThrownBy(() -> service.outer(() -> service.required("A")))
					.withMessageContaining("Service.outer"));
	}

	@Test
	void callWithoutTransactionOfItsOwnIsRefused() {
		run(this.application, (service, context) -> inTransaction(context,
				() -> assertThatIllegalStateException().isThrownBy(() -> service.plain("A"))));
	}

	@Test
	void templateIsRefused() {
		run(this.application, (service, context) -> inTransaction(context, () -> assertThatIllegalStateException()
			.isThrownBy(() -> context.getBean(LockTemplate.class).acquire("A"))));
	}

	@Test
	void refusedCallLeavesTheRunningTransactionAlone() {
		run(this.application, (service, context) -> {
			inTransaction(context, () -> {
				service.insert(1);
				assertThatIllegalStateException().isThrownBy(() -> service.required("A"));
			});
			assertThat(service.rows()).isEqualTo(1);
		});
	}

	@Test
	void newTransactionIsAllowed() {
		run(this.application, (service, context) -> inTransaction(context,
				() -> assertThat(service.requiresNew("A")).containsExactly("A")));
	}

	@Test
	void callThatSuspendsTheTransactionIsAllowed() {
		run(this.application, (service, context) -> inTransaction(context,
				() -> assertThat(service.notSupported("A")).containsExactly("A")));
	}

	@Test
	void templateForANewTransactionIsAllowed() {
		run(this.application, (service, context) -> inTransaction(context, () -> {
			String result = context.getBean(LockTemplate.class)
				.withPropagation(Propagation.REQUIRES_NEW)
				.execute("A", () -> "done");
			assertThat(result).isEqualTo("done");
		}));
	}

	@Test
	void reentrantCallInsideItsOwnTransactionIsAllowed() {
		run(this.application, (service, context) -> assertThat(service.requiredAnd("A", () -> service.required("A")))
			.containsExactly("A"));
	}

	@Test
	void anotherKeyInsideTheOwnTransactionIsRefused() {
		run(this.application,
				(service, context) -> assertThatIllegalStateException()
					.isThrownBy(() -> service.requiredAnd("A", () -> service.required("B")))
					.withMessageContaining("Lock 'B'"));
	}

	@Test
	void callWithoutATransactionIsAllowed() {
		run(this.application, (service, context) -> assertThat(service.required("A")).containsExactly("A"));
	}

	@Test
	void callInAScopeOfSynchronizationsWithoutTransactionIsAllowed() {
		run(this.application, (service, context) -> {
			TransactionTemplate supports = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			supports.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
			List<String> keys = supports.execute((status) -> service.plain("A"));
			assertThat(keys).containsExactly("A");
		});
	}

	// Callbacks

	@Test
	void callWithoutTransactionIsAllowedAfterTheCommit() {
		run(this.application, (service, context) -> assertThat(afterCommit(context, () -> service.plain("A")))
			.isEqualTo(List.of("A")));
	}

	@Test
	void newTransactionIsAllowedAfterTheCommit() {
		run(this.application, (service, context) -> {
			assertThat(afterCommit(context, () -> service.requiresNewInsert("A"))).isEqualTo(List.of("A"));
			assertThat(service.rows()).isEqualTo(1);
		});
	}

	@Test
	void transactionThatWouldJoinTheOneThatHasEndedIsRefusedAfterTheCommit() {
		run(this.application, (service, context) -> assertThat(afterCommit(context, () -> service.required("A")))
			.isInstanceOfSatisfying(IllegalStateException.class,
					(ex) -> assertThat(ex).hasMessageContainingAll("Lock 'A'", "after the commit", "REQUIRES_NEW")));
	}

	@Test
	void reentrantCallThatWouldJoinTheOneThatHasEndedIsRefusedAfterTheCommit() {
		run(this.application, (service, context) -> assertThat(
				reentrantAfterCommit(service, () -> service.required("A")))
			.isInstanceOfSatisfying(IllegalStateException.class,
					(ex) -> assertThat(ex).hasMessageContainingAll("Lock 'A'", "after the commit", "REQUIRES_NEW")));
	}

	@Test
	void reentrantCallWithANewTransactionIsAllowedAfterTheCommit() {
		run(this.application, (service, context) -> {
			assertThat(reentrantAfterCommit(service, () -> service.requiresNewInsert("A"))).isEqualTo(List.of("A"));
			assertThat(service.rows()).isOne();
		});
	}

	@Test
	void callWithoutTransactionIsAllowedAfterTheCompletion() {
		run(this.application, (service, context) -> assertThat(afterCompletion(context, () -> service.plain("A")))
			.isEqualTo(List.of("A")));
	}

	@Test
	void newTransactionIsAllowedAfterTheCompletion() {
		run(this.application, (service, context) -> {
			assertThat(afterCompletion(context, () -> service.requiresNewInsert("A"))).isEqualTo(List.of("A"));
			assertThat(service.rows()).isEqualTo(1);
		});
	}

	@Test
	void transactionThatWouldJoinTheOneThatHasEndedIsRefusedAfterTheCompletion() {
		run(this.application,
				(service, context) -> assertThat(afterCompletion(context, () -> service.required("A")))
					.isInstanceOfSatisfying(IllegalStateException.class,
							(ex) -> assertThat(ex).hasMessageContainingAll("Lock 'A'", "REQUIRES_NEW")));
	}

	@Test
	void callInACallbackReleasesItsLockAtOnce() {
		run(this.keeping, (service, context) -> {
			assertThat(afterCommit(context, () -> service.plain("A"))).isEqualTo(List.of("A"));
			assertThat(holders(context)).isZero();
		});
	}

	// Transactions without SQL

	@Test
	void runningTransactionWithoutSqlIsAllowed() {
		run(this.application.withUserConfiguration(TwoManagers.class), (service, context) -> {
			TransactionTemplate queue = new TransactionTemplate(context.getBean(QueueTransactionManager.class));
			List<String> keys = queue.execute((status) -> service.plain("A"));
			assertThat(keys).containsExactly("A");
		});
	}

	@Test
	void runningTransactionOfAManagerOfTheUserIsRefused() {
		run(this.application.withUserConfiguration(TwoSqlManagers.class), (service, context) -> {
			TransactionTemplate other = new TransactionTemplate(
					context.getBean("otherTransactionManager", PlatformTransactionManager.class));
			other.executeWithoutResult(
					(status) -> assertThatIllegalStateException().isThrownBy(() -> service.plain("A")));
		});
	}

	// Release after completion

	@Test
	void lockIsKeptUntilTheRunningTransactionHasEnded() {
		run(this.keeping, (service, context) -> {
			inTransaction(context, () -> {
				assertThat(service.required("A")).containsExactly("A");
				assertThat(LockContext.current()).get().extracting(LockContext::keys).isEqualTo(List.of("A"));
				assertThat(onOtherThread(() -> holders(context))).isEqualTo(1);
			});
			assertThat(LockContext.current()).isEmpty();
			assertThat(holders(context)).isZero();
		});
	}

	@Test
	void keptLockIsReentrant() {
		run(this.keeping, (service, context) -> inTransaction(context, () -> {
			service.required("A");
			assertThat(service.required("A")).containsExactly("A");
		}));
	}

	@Test
	void lockIsStillHeldWhenTheRunningTransactionIsCommitted() {
		run(this.keeping, (service, context) -> {
			List<Object> seen = new ArrayList<>();
			inTransaction(context, () -> {
				service.required("A");
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						seen.add(onOtherThread(() -> holders(context)));
					}

				});
			});
			assertThat(seen).containsExactly(1);
		});
	}

	@Test
	void keptLockIsReleasedWhenTheRunningTransactionRollsBack() {
		run(this.keeping, (service, context) -> {
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					service.required("A");
					status.setRollbackOnly();
				});
			assertThat(LockContext.current()).isEmpty();
			assertThat(holders(context)).isZero();
		});
	}

	@Test
	void keptLockIsGuardedAtTheCommitOfTheRunningTransaction() {
		run(this.keeping, (service, context) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(context, () -> {
				service.requiredInsert("A");
				onOtherThread(
						() -> context.getBean(JdbcTemplate.class).update("UPDATE holdfast_lock SET epoch = epoch + 1"));
			})).withMessageContaining("Lock 'A'");
			assertThat(service.rows()).isZero();
		});
	}

	private static void run(ApplicationContextRunner application, Scenario test) {
		application.run((context) -> test.run(context.getBean(Service.class), context));
	}

	private static void inTransaction(ApplicationContext context, Runnable work) {
		new TransactionTemplate(context.getBean("transactionManager", PlatformTransactionManager.class))
			.executeWithoutResult((status) -> work.run());
	}

	private static @Nullable Object afterCommit(ApplicationContext context, Call call) {
		return inCallback(context, (outcome) -> new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				outcome.set(outcomeOf(call));
			}

		});
	}

	/**
	 * While the lock of the method whose transaction has ended is still held.
	 */
	private static @Nullable Object reentrantAfterCommit(Service service, Call call) {
		AtomicReference<Object> outcome = new AtomicReference<>();
		service.requiredAnd("A",
				() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						outcome.set(outcomeOf(call));
					}

				}));
		return outcome.get();
	}

	private static @Nullable Object afterCompletion(ApplicationContext context, Call call) {
		return inCallback(context, (outcome) -> new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				outcome.set(outcomeOf(call));
			}

		});
	}

	private static @Nullable Object inCallback(ApplicationContext context, Callback callback) {
		AtomicReference<Object> outcome = new AtomicReference<>();
		inTransaction(context, () -> TransactionSynchronizationManager.registerSynchronization(callback.with(outcome)));
		return outcome.get();
	}

	private static Object outcomeOf(Call call) {
		try {
			return call.call();
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private static int onOtherThread(Supplier<Integer> work) {
		return CompletableFuture.supplyAsync(work).join();
	}

	private static int lockRows(ApplicationContext context) {
		return count(context, "SELECT count(*) FROM holdfast_lock");
	}

	private static int holders(ApplicationContext context) {
		return count(context, "SELECT count(*) FROM holdfast_lock WHERE owner IS NOT NULL");
	}

	private static int count(ApplicationContext context, String sql) {
		Integer count = context.getBean(JdbcTemplate.class).queryForObject(sql, Integer.class);
		return (count != null) ? count : -1;
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		QueueTransactionManager queueTransactionManager() {
			return new QueueTransactionManager();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoSqlManagers {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTransactionManager otherTransactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	interface Scenario {

		void run(Service service, ApplicationContext context);

	}

	interface Call {

		Object call();

	}

	interface Callback {

		TransactionSynchronization with(AtomicReference<Object> outcome);

	}

	static class Service {

		private final JdbcTemplate jdbc;

		Service(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE IF NOT EXISTS work (id integer)");
			jdbc.update("DELETE FROM work");
		}

		public int rows() {
			Integer rows = this.jdbc.queryForObject("SELECT count(*) FROM work", Integer.class);
			return (rows != null) ? rows : -1;
		}

		public void insert(int id) {
			this.jdbc.update("INSERT INTO work VALUES (?)", id);
		}

		@Transactional
		public void outer(Runnable inner) {
			inner.run();
		}

		@DistributedLock(key = "#key")
		public List<String> plain(String key) {
			return heldKeys();
		}

		@DistributedLock(key = "#key")
		@Transactional
		public List<String> required(String key) {
			return heldKeys();
		}

		@DistributedLock(key = "#key")
		@Transactional
		public List<String> requiredAnd(String key, Runnable inner) {
			inner.run();
			return heldKeys();
		}

		@DistributedLock(key = "#key")
		@Transactional
		public void requiredInsert(String key) {
			insert(1);
		}

		@DistributedLock(key = "#key")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public List<String> requiresNew(String key) {
			return heldKeys();
		}

		@DistributedLock(key = "#key")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public List<String> requiresNewInsert(String key) {
			insert(1);
			return heldKeys();
		}

		@DistributedLock(key = "#key")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public List<String> notSupported(String key) {
			return heldKeys();
		}

		private static List<String> heldKeys() {
			return LockContext.current().map(LockContext::keys).orElse(List.of());
		}

	}

	/**
	 * A manager of transactions on something that is not a database.
	 */
	static class QueueTransactionManager extends AbstractPlatformTransactionManager
			implements ResourceTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		public Object getResourceFactory() {
			return "a queue";
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
