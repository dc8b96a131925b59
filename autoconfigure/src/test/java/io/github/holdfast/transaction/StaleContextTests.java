package io.github.holdfast.transaction;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.LazyInitializationException;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static io.github.holdfast.transaction.OpenView.inView;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locked calls on threads whose persistence context holds entities already. Whether a
 * call is right shows in the stock: another thread takes one piece after the entity was
 * read.
 */
class StaleContextTests {

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
		.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
		.withBean(PersistenceManagedTypes.class,
				() -> PersistenceManagedTypes.of(JpaStockService.Stock.class.getName()))
		.withBean(JpaStockService.class);

	private final ApplicationContextRunner rejecting = this.application
		.withPropertyValues("holdfast.jpa.stale-context=reject");

	private final ApplicationContextRunner clearing = this.application
		.withPropertyValues("holdfast.jpa.stale-context=clear");

	private final ApplicationContextRunner allowing = this.application
		.withPropertyValues("holdfast.jpa.stale-context=allow");

	// Open in view

	@Test
	void entitiesOfTheViewAreRefusedBeforeAnythingIsAcquired() {
		run(this.rejecting, (stock, context) -> inView(context, () -> {
			stock.look("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))
				.withMessageContainingAll("Lock 'stock:A'", "JpaStockService.take", "entities from before the lock (1)",
						"'spring.jpa.open-in-view' to 'false'", "'holdfast.jpa.stale-context' to 'clear'");
			assertThat(lockRows(context)).isZero();
		}));
	}

	@Test
	void entitiesOfTheViewLoseAnUpdateWhenAllowed() {
		run(this.allowing, (stock, context) -> inView(context, () -> {
			assertThat(stock.look("A")).isEqualTo(100);
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(99);
			assertThat(quantity(context, "A")).as("two pieces were taken").isEqualTo(99);
		}));
	}

	@Test
	void entitiesOfTheViewAreReadAgainWhenCleared() {
		run(this.clearing, (stock, context) -> inView(context, () -> {
			stock.look("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(98);
			assertThat(quantity(context, "A")).isEqualTo(98);
		}));
	}

	@Test
	void viewWithoutEntitiesIsAllowed() {
		run(this.application, (stock, context) -> inView(context, () -> {
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(98);
		}));
	}

	@Test
	void entitiesOfAnEarlierLockedCallAreRefused() {
		run(this.rejecting, (stock, context) -> inView(context, () -> {
			stock.take("A");
			onOtherThread(() -> stock.take("A"));
			assertThatIllegalStateException().isThrownBy(() -> stock.take("A"));
		}));
	}

	@Test
	void entitiesOfAnEarlierLockedCallAreReadAgainWhenCleared() {
		run(this.clearing, (stock, context) -> inView(context, () -> {
			stock.take("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(97);
		}));
	}

	@Test
	void callAfterARolledBackOneIsAllowed() {
		run(this.application, (stock, context) -> inView(context, () -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.takeAnd("A", () -> onOtherThread(() -> supersede(context))));
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(98);
		}));
	}

	@Test
	void newTransactionUsesTheViewAndIsRefused() {
		run(this.rejecting, (stock, context) -> inView(context, () -> {
			stock.look("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.takeInNewTransaction("A"));
		}));
	}

	@Test
	void templateIsRefused() {
		run(this.rejecting, (stock, context) -> inView(context, () -> {
			stock.look("A");
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(LockTemplate.class).acquire("stock:A"))
				.withMessageContaining("entities from before the lock");
		}));
	}

	@Test
	void reentrantCallIsAllowed() {
		run(this.application, (stock, context) -> inView(context, () -> {
			assertThat(stock.takeAnd("A", () -> stock.take("A"))).isEqualTo(99);
			assertThat(quantity(context, "A")).isEqualTo(98);
		}));
	}

	@Test
	void contextOfAnotherFactoryIsRefused() {
		run(this.rejecting, (stock, context) -> {
			try (EntityManager other = context.getBean(EntityManagerFactory.class).createEntityManager()) {
				bound("another factory", other, () -> inView(context, () -> {
					assertThat(stock.take("A")).isEqualTo(99);
					other.find(JpaStockService.Stock.class, "B");
					assertThatIllegalStateException().isThrownBy(() -> stock.take("A"));
				}));
			}
		});
	}

	// Isolation

	@Test
	void lockedCallReadsAgainAndTheViewIsBackAfterwards() {
		run(this.application, (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(98);
			assertThat(quantity(context, "A")).isEqualTo(98);
			assertThat(stock.find("A")).isSameAs(read);
			assertThat(read.getQuantity()).as("the view is as old as it was").isEqualTo(100);
		}));
	}

	@Test
	void twoLockedCallsOfARequestReadAgain() {
		run(this.application, (stock, context) -> inView(context, () -> {
			assertThat(stock.take("A")).isEqualTo(99);
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.takeInNewTransaction("A")).isEqualTo(97);
			assertThat(stock.lookWithoutTransaction("A")).isEqualTo(97);
			assertThat(quantity(context, "A")).isEqualTo(97);
		}));
	}

	@Test
	void viewIsBackAfterAFailureAndAfterALockThatWasNotAcquired() {
		run(this.application.withPropertyValues("holdfast.wait-time=0s"), (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.takeAnd("A", () -> {
				throw new IllegalStateException("failed");
			})).withMessage("failed");
			assertThat(stock.find("A")).isSameAs(read);
			LockTemplate.Scope held = CompletableFuture
				.supplyAsync(() -> context.getBean(LockTemplate.class).acquire("stock:A"))
				.join();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> stock.take("A"));
			held.close();
			assertThat(stock.find("A")).isSameAs(read);
			assertThat(quantity(context, "A")).isEqualTo(100);
		}));
	}

	@Test
	void changesThatAreNotFlushedAreRefused() {
		run(this.application, (stock, context) -> inView(context, () -> {
			stock.change("A", 50);
			assertThatIllegalStateException().isThrownBy(() -> stock.take("B"))
				.withMessageContainingAll("Lock 'stock:B'", "changes that are not flushed", "without the lock",
						"write them in a transaction before");
			assertThat(lockRows(context)).isZero();
			stock.inTransaction(() -> assertThat(stock.look("A")).isEqualTo(50));
			assertThat(quantity(context, "A")).as("the transaction has written them").isEqualTo(50);
			assertThat(stock.take("A")).isEqualTo(49);
		}));
	}

	@Test
	void changeOfAnEntityThatIsPassedInRollsBack() {
		run(this.application, (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.takeFrom(read))
				.withMessageContainingAll("Lock 'stock:A'", "JpaStockService.takeFrom", "read before the lock",
						"Pass the id");
			assertNothingIsWrittenLater(stock, context);
		}));
	}

	@Test
	void changeOfAnEntityThatIsPassedInIsToldWithoutATransaction() {
		run(this.application, (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.takeFromWithoutTransaction(read))
				.withMessageContainingAll("Lock 'stock:A'", "were dropped", "pass ids");
			assertNothingIsWrittenLater(stock, context);
		}));
	}

	@Test
	void changeUnderTheLockWithoutATransactionIsTold() {
		run(this.application, (stock, context) -> inView(context, () -> {
			assertThatIllegalStateException().isThrownBy(() -> stock.takeWithoutTransaction("A"))
				.withMessageContainingAll("Lock 'stock:A'", "@Transactional");
			assertNothingIsWrittenLater(stock, context);
		}));
	}

	@Test
	void entityThatIsPassedInIsNotSaved() {
		run(this.application, (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			onOtherThread(() -> stock.take("A"));
			assertThatException().isThrownBy(() -> stock.save(read))
				.withMessageContainingAll("JpaStockService$Stock", "read before the lock", "Pass its id");
			assertThatException().isThrownBy(() -> stock.takeAndSave(read)).withMessageContaining("Pass its id");
			assertThat(quantity(context, "A")).isEqualTo(99);
		}));
	}

	@Test
	void entityThatIsOnlyReadMayBePassedIn() {
		run(this.application, (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.takeAnew(read)).isEqualTo(98);
		}));
	}

	@Test
	void entityThatALockedCallReturnsIsDetachedAndLoadsNothingLater() {
		run(this.application, (stock, context) -> inView(context, () -> {
			JpaStockService.Stock returned = stock.reference("A");
			assertThat(stock.isManaged(returned)).isFalse();
			assertThatExceptionOfType(LazyInitializationException.class).isThrownBy(returned::getQuantity);
		}));
	}

	@Test
	void nestedCallForAnotherKeyHasAContextOfItsOwn() {
		run(this.application, (stock, context) -> inView(context, () -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			JpaStockService.Stock outer = stock.find("A");
			locks.run("outer", () -> {
				JpaStockService.Stock inner = stock.find("A");
				assertThat(inner).isNotSameAs(outer);
				assertThat(stock.take("A")).isEqualTo(99);
				assertThat(stock.find("A")).isSameAs(inner);
			});
			assertThat(stock.find("A")).isSameAs(outer);
		}));
	}

	@Test
	void viewIsBackWhenScopesAreClosedInAnyOrder() {
		run(this.application, (stock, context) -> inView(context, () -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			JpaStockService.Stock outer = stock.find("A");
			LockTemplate.Scope first = locks.acquire("first");
			LockTemplate.Scope second = locks.acquire("second");
			JpaStockService.Stock inner = stock.find("A");
			first.close();
			assertThat(stock.find("A")).isSameAs(inner);
			second.close();
			assertThat(stock.find("A")).isSameAs(outer);
		}));
	}

	@Test
	void viewIsBackAtTheNextCallIfAnotherThreadHasClosedTheScope() {
		run(this.application, (stock, context) -> inView(context, () -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			JpaStockService.Stock outer = stock.find("A");
			LockTemplate.Scope scope = locks.acquire("first");
			CompletableFuture.runAsync(scope::close).join();
			assertThat(stock.take("A")).isEqualTo(99);
			assertThat(stock.find("A")).isSameAs(outer);
		}));
	}

	@Test
	void contextOfAnUnknownProviderIsIsolated() {
		run(this.application,
				(stock, context) -> withUnknownProvider(context, () -> assertThat(stock.take("A")).isEqualTo(99)));
	}

	@Test
	void optimisticAttemptsReadAgain() {
		run(this.application, (stock, context) -> inView(context, () -> {
			stock.look("A");
			onOtherThread(() -> stock.take("A"));
			LockTemplate locks = context.getBean(LockTemplate.class).withMode(LockRequest.Mode.OPTIMISTIC);
			locks.run("stock:A", () -> stock.inTransaction(() -> stock.find("A").add()));
			assertThat(quantity(context, "A")).isEqualTo(100);
		}));
	}

	private static void assertNothingIsWrittenLater(JpaStockService stock, ApplicationContext context) {
		stock.inTransaction(() -> stock.look("B"));
		assertThat(quantity(context, "A")).isEqualTo(100);
		assertThat(stock.take("A")).isEqualTo(99);
	}

	// Clearing

	@Test
	void unflushedChangesAreNotCleared() {
		run(this.clearing, (stock, context) -> inView(context, () -> {
			stock.change("A", 50);
			assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))
				.withMessageContainingAll("Lock 'stock:A'", "changes that are not flushed",
						"'holdfast.jpa.stale-context'");
			assertThat(lockRows(context)).isZero();
			assertThat(stock.look("A")).isEqualTo(50);
		}));
	}

	@Test
	void contextIsNotClearedWhenTheLockIsNotAcquired() {
		run(this.clearing.withPropertyValues("holdfast.wait-time=0s"), (stock, context) -> inView(context, () -> {
			JpaStockService.Stock read = stock.find("A");
			LockTemplate.Scope held = CompletableFuture
				.supplyAsync(() -> context.getBean(LockTemplate.class).acquire("stock:A"))
				.join();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> stock.take("A"));
			assertThat(stock.find("A")).isSameAs(read);
			held.close();
			stock.take("A");
			assertThat(stock.find("A")).isNotSameAs(read);
		}));
	}

	// Transactions

	@Test
	void runningTransactionIsToldBeforeItsEntities() {
		run(this.application, (stock, context) -> stock.inTransaction(() -> {
			stock.look("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))
				.withMessageContaining("inside a running transaction");
		}));
	}

	@Test
	void newTransactionHasAContextOfItsOwn() {
		run(this.application, (stock, context) -> stock.inTransaction(() -> {
			stock.look("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.takeInNewTransaction("A")).isEqualTo(98);
		}));
	}

	@Test
	void newTransactionHasAContextOfItsOwnWhenTheViewIsInUseByAnother() {
		run(this.application, (stock, context) -> inView(context, () -> stock.inTransaction(() -> {
			stock.look("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.takeInNewTransaction("A")).isEqualTo(98);
		})));
	}

	@Test
	void callThatSuspendsTheTransactionHasAContextOfItsOwn() {
		run(this.application, (stock, context) -> stock.inTransaction(() -> {
			stock.look("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.lookOutsideOfTransaction("A")).isEqualTo(99);
		}));
	}

	@Test
	void contextThatIsNotUsedIsNotCleared() {
		run(this.clearing, (stock, context) -> stock.inTransaction(() -> {
			JpaStockService.Stock read = stock.find("A");
			stock.change("A", 50);
			stock.takeInNewTransaction("B");
			assertThat(stock.find("A")).isSameAs(read);
		}));
	}

	@Test
	void transactionInAScopeWithoutTransactionHasAContextOfItsOwn() {
		run(this.application, (stock, context) -> stock.inScopeWithoutTransaction(() -> {
			stock.look("A");
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(98);
		}));
	}

	@Test
	void callWithoutTransactionUsesTheContextOfTheScopeAndIsRefused() {
		run(this.application, (stock, context) -> stock.inScopeWithoutTransaction(() -> {
			stock.look("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.lookWithoutTransaction("A"));
			assertThatIllegalStateException().isThrownBy(() -> stock.lookOutsideOfTransaction("A"));
		}));
	}

	@Test
	void joinedTransactionWithEntitiesIsRefused() {
		run(keeping(this.application), (stock, context) -> stock.inTransaction(() -> {
			stock.look("A");
			assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))
				.withMessageContaining("take the lock before the transaction begins");
		}));
	}

	@Test
	void joinedTransactionWithoutEntitiesIsAllowed() {
		run(keeping(this.application), (stock, context) -> stock.inTransaction(() -> {
			onOtherThread(() -> stock.take("A"));
			assertThat(stock.take("A")).isEqualTo(98);
			assertThat(stock.take("A")).isEqualTo(97);
		}));
	}

	@Test
	void joinedTransactionReadsAgainWhenCleared() {
		run(keeping(this.clearing), (stock, context) -> {
			stock.inTransaction(() -> {
				stock.look("A");
				onOtherThread(() -> stock.take("A"));
				assertThat(stock.take("A")).isEqualTo(98);
			});
			assertThat(quantity(context, "A")).isEqualTo(98);
		});
	}

	@Test
	void secondLockInATransactionIsRefusedWithTheRemedyThatWorks() {
		for (ApplicationContextRunner each : List.of(keeping(this.application), keeping(this.clearing))) {
			run(each, (stock, context) -> {
				stock.inTransaction(() -> {
					stock.take("A");
					assertThatIllegalStateException().isThrownBy(() -> stock.take("B"))
						.withMessageContainingAll("Lock 'stock:B'", "on the method that begins the transaction",
								"with all keys")
						.withMessageNotContainingAny("open-in-view", "'clear' to detach", "flush them");
				});
				context.getBean(LockTemplate.class).execute(List.of("stock:A", "stock:B"), () -> {
					stock.inTransaction(() -> {
						stock.take("A");
						stock.take("B");
					});
					return null;
				});
				assertThat(quantity(context, "A")).isEqualTo(98);
				assertThat(quantity(context, "B")).isEqualTo(99);
			});
		}
	}

	// Providers

	@Test
	void contextOfAnUnknownProviderIsRefused() {
		run(this.rejecting,
				(stock, context) -> withUnknownProvider(context,
						() -> assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))
							.withMessageContainingAll("Lock 'stock:A'", "not Hibernate's",
									"'holdfast.jpa.stale-context' to 'allow'")));
	}

	@Test
	void contextOfAnUnknownProviderIsNotCleared() {
		run(this.clearing, (stock, context) -> withUnknownProvider(context,
				() -> assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))));
	}

	@Test
	void contextOfAnUnknownProviderIsUsedWhenAllowed() {
		run(this.allowing,
				(stock, context) -> withUnknownProvider(context, () -> assertThat(stock.take("A")).isEqualTo(99)));
	}

	@Test
	void applicationWithoutJpaStarts() {
		LockedApplication.local()
			.withClassLoader(new FilteredClassLoader("jakarta.persistence", "org.hibernate", "org.springframework.orm"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context).doesNotHaveBean(StaleContextRule.class);
				assertThat(context.getBean(LockTemplate.class).<Integer, RuntimeException>execute("A", () -> 1))
					.isOne();
			});
	}

	private static ApplicationContextRunner keeping(ApplicationContextRunner application) {
		return application.withPropertyValues("holdfast.on-active-transaction=release-after-completion");
	}

	private static void run(ApplicationContextRunner application, Scenario scenario) {
		application.run((context) -> {
			JpaStockService stock = context.getBean(JpaStockService.class);
			context.getBean(JdbcTemplate.class).update("DELETE FROM holdfast_lock");
			stock.add("A", 100);
			stock.add("B", 100);
			scenario.run(stock, context);
		});
	}

	/**
	 * With an EntityManager that does what Hibernate's does, but is of no type of
	 * Hibernate.
	 */
	private static void withUnknownProvider(ApplicationContext context, Runnable work) {
		try (EntityManager manager = context.getBean(EntityManagerFactory.class).createEntityManager()) {
			EntityManager unknown = (EntityManager) Proxy.newProxyInstance(EntityManager.class.getClassLoader(),
					new Class<?>[] { EntityManager.class },
					(proxy, method, arguments) -> ReflectionUtils.invokeMethod(method, manager, arguments));
			bound("another factory", unknown, work);
		}
	}

	private static void bound(Object factory, EntityManager manager, Runnable work) {
		TransactionSynchronizationManager.bindResource(factory, new EntityManagerHolder(manager));
		try {
			work.run();
		}
		finally {
			TransactionSynchronizationManager.unbindResource(factory);
		}
	}

	private static void onOtherThread(Supplier<Integer> work) {
		CompletableFuture.supplyAsync(work).join();
	}

	private static int supersede(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class)
			.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL, expires_at = 0");
	}

	private static int lockRows(ApplicationContext context) {
		return number(context, "SELECT count(*) FROM holdfast_lock");
	}

	private static int quantity(ApplicationContext context, String sku) {
		return number(context, "SELECT quantity FROM stock WHERE sku = ?", sku);
	}

	private static int number(ApplicationContext context, String sql, Object... arguments) {
		Integer number = context.getBean(JdbcTemplate.class).queryForObject(sql, Integer.class, arguments);
		return (number != null) ? number : -1;
	}

	interface Scenario {

		void run(JpaStockService stock, ApplicationContext context);

	}

}
