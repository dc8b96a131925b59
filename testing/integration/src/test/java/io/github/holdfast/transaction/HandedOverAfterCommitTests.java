package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.aspectj.AspectJExpressionPointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * When a thread of this JVM waits, the lock is handed over as soon as the transaction has
 * been committed, if nothing else is left of the method.
 */
class HandedOverAfterCommitTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final List<Thread> waiters = new ArrayList<>();

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void nextThreadWorksWhileTheConnectionIsCleanedUp(TestBackend backend) {
		run(backend, (stock, cleanUps, context) -> {
			CountDownLatch nextIsDone = new CountDownLatch(1);
			List<Integer> seen = new ArrayList<>();
			cleanUps.hook(() -> await().atMost(PATIENCE).until(() -> nextIsDone.getCount() == 0));
			stock.take("A", () -> awaitWaiter(() -> {
				stock.take("A", () -> seen.add(stock.quantity("A")));
				nextIsDone.countDown();
			}));
			assertThat(cleanUps.held()).containsExactly(false);
			assertThat(seen).containsExactly(99);
			assertThat(stock.quantity("A")).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void lockThatNobodyWaitsForIsReleasedAtTheEnd(TestBackend backend) {
		run(backend, (stock, cleanUps, context) -> {
			LeaseCalls calls = context.getBean(LeaseCalls.class);
			calls.clear();
			cleanUps.hook(() -> assertThat(calls.count("release")).isZero());
			stock.take("A", () -> {
			});
			assertThat(cleanUps.held()).containsExactly(true);
			assertThat(calls.count("release")).isOne();
		});
	}

	@Test
	void lockIsHandedOverAtTheEndUntilItIsKnownThatCleanUpsAreLong() {
		runAtOnce(application(TestBackend.LOCAL), (stock, cleanUps, context) -> {
			takeWhileAnotherWaits(stock);
			assertThat(cleanUps.held()).containsExactly(true);
		});
	}

	@Test
	void callbacksOfTheTransactionStillHoldIt() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			List<Boolean> held = new ArrayList<>();
			stock.take("A", () -> {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public int getOrder() {
						return LOWEST_PRECEDENCE;
					}

					@Override
					public void afterCommit() {
						held.add(isHeld());
					}

					@Override
					public void afterCompletion(int status) {
						held.add(isHeld());
					}

				});
				awaitWaiter(() -> stock.take("A", () -> {
				}));
			});
			assertThat(held).containsExactly(true, true);
			assertThat(cleanUps.held()).containsExactly(false);
		});
	}

	/**
	 * A listener may use the connection that is bound to the thread.
	 */
	@Test
	void listenersAreToldOnceAndAfterTheCleanUp() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			Releases releases = context.getBean(Releases.class);
			cleanUps.hook(() -> assertThat(releases.ofThisThread()).isEmpty());
			takeWhileAnotherWaits(stock);
			assertThat(cleanUps.held()).containsExactly(false);
			assertThat(releases.ofThisThread()).containsExactly(LockListener.Outcome.RELEASED);
		});
	}

	@Test
	void newTransactionOfAMethodInsideOfAnother() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			context.getBean(TransactionTemplate.class)
				.executeWithoutResult(
						(status) -> stock.takeInNewTransaction("A", () -> awaitWaiter(() -> stock.take("A", () -> {
						}))));
			assertThat(cleanUps.held()).startsWith(false);
		});
	}

	@Test
	void commitInsideOfTheBodyIsNotTheEnd() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			stock.take("A", () -> {
				awaitWaiter(() -> stock.take("A", () -> {
				}));
				stock.look("B");
			});
			assertThat(cleanUps.held()).containsExactly(true, false);
		});
	}

	/**
	 * The names of transactions do not tell overloaded methods apart.
	 */
	@Test
	void commitOfTheSameNameInsideOfTheBodyIsNotTheEnd() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			stock.take("A", () -> {
				awaitWaiter(() -> stock.take("A", () -> {
				}));
				stock.take("B");
			});
			assertThat(cleanUps.held()).containsExactly(true, true);
		});
	}

	@Test
	void commitInsideOfABodyWithoutTransactionIsNotTheEnd() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			stock.look("A", () -> {
				awaitWaiter(() -> stock.take("A", () -> {
				}));
				stock.look("A");
			});
			assertThat(cleanUps.held()).containsExactly(true);
		});
	}

	@Test
	void rolledBackTransactionIsNotTheEnd() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			assertThatIllegalStateException().isThrownBy(() -> stock.take("A", () -> {
				awaitWaiter(() -> stock.take("A", () -> {
				}));
				throw new IllegalStateException();
			}));
			assertThat(cleanUps.held()).containsExactly(true);
		});
	}

	@Test
	void bodyThatIsMoreThanATransaction() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			context.getBean(LockTemplate.class).run("stock:A", () -> {
				context.getBean(TransactionTemplate.class)
					.executeWithoutResult((status) -> awaitWaiter(() -> stock.take("A", () -> {
					})));
				assertThat(isHeld()).isTrue();
			});
			assertThat(cleanUps.held()).containsExactly(true);
		});
	}

	@Test
	void methodWithSomethingBetweenLockAndTransaction() {
		run(application(TestBackend.LOCAL).withPropertyValues("holdfast.order=100")
			.withBean(DefaultPointcutAdvisor.class, () -> afterTransactions("bean(stock)")),
				(stock, cleanUps, context) -> {
					takeWhileAnotherWaits(stock);
					assertThat(cleanUps.held()).containsExactly(true);
				});
	}

	/**
	 * The lock does not know which of the beans is called.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "another", "yetAnother" })
	void classOfWhichOneBeanHasSomethingBetweenLockAndTransaction(String bean) {
		run(application(TestBackend.LOCAL).withPropertyValues("holdfast.order=100")
			.withBean("another", Stock.class)
			.withBean("yetAnother", Stock.class)
			.withBean(DefaultPointcutAdvisor.class, () -> afterTransactions("bean(" + bean + ")")),
				(stock, cleanUps, context) -> {
					takeWhileAnotherWaits(stock);
					assertThat(cleanUps.held()).containsExactly(true);
				});
	}

	@Test
	void minimumHoldTimeCounts() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			stock.takeSlowly("A", () -> awaitWaiter(() -> stock.take("A", () -> {
			})));
			assertThat(cleanUps.held()).containsExactly(true);
		});
	}

	@Test
	void severalKeysAreGivenBackTogether() {
		run(TestBackend.LOCAL, (stock, cleanUps, context) -> {
			stock.takeBoth(() -> awaitWaiter(() -> stock.take("A", () -> {
			})));
			assertThat(cleanUps.held()).containsExactly(true);
		});
	}

	/**
	 * The connection that is cleaned up is the one of the lock.
	 */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void lockOfTheSameSessionIsNotHandedOverBefore(TestDatabase database) {
		run(application(TestBackend.valueOf(database.name())).withPropertyValues("holdfast.jdbc.mode=session"),
				(stock, cleanUps, context) -> {
					takeWhileAnotherWaits(stock);
					assertThat(cleanUps.held()).containsExactly(true);
				});
	}

	/**
	 * The only transaction that is seen is one inside of the body.
	 */
	@Test
	void commitOfTheSameNameIsNotTheEndIfAManagerIsNotGuarded() {
		run(application(TestBackend.LOCAL).withPropertyValues("holdfast.unguarded-transaction-managers=unguarded")
			.withBean("unguarded", UnguardedManager.class), (stock, cleanUps, context) -> {
				stock.takeUnguarded("A", () -> {
					awaitWaiter(() -> stock.take("A", () -> {
					}));
					stock.takeUnguarded("A");
				});
				assertThat(cleanUps.held()).containsExactly(true);
			});
	}

	private void takeWhileAnotherWaits(Stock stock) {
		stock.take("A", () -> awaitWaiter(() -> stock.take("A", () -> {
		})));
	}

	/**
	 * Lets another thread wait for the lock that this one holds.
	 */
	private void awaitWaiter(Runnable call) {
		Thread waiter = new Thread(call);
		this.waiters.add(waiter);
		waiter.start();
		await().atMost(PATIENCE).until(() -> List.of(waiter.getStackTrace()).toString().contains("KeyedPermits.await"));
	}

	private static boolean isHeld() {
		return LockContext.current().isPresent();
	}

	private void run(TestBackend backend, Scenario scenario) {
		run(application(backend), scenario);
	}

	private void run(ApplicationContextRunner application, Scenario scenario) {
		runAtOnce(application, (stock, cleanUps, context) -> {
			learnThatCleanUpsAreLong(stock);
			scenario.run(stock, cleanUps, context);
		});
	}

	private void runAtOnce(ApplicationContextRunner application, Scenario scenario) {
		application.run((context) -> {
			try {
				scenario.run(context.getBean("stock", Stock.class),
						context.getBean("transactionManager", CleanUps.class), context.getSourceApplicationContext());
			}
			finally {
				for (Thread waiter : this.waiters) {
					waiter.join();
				}
			}
		});
	}

	/**
	 * In a thread of its own, as this one notes what happens to it.
	 */
	private static void learnThatCleanUpsAreLong(Stock stock) throws InterruptedException {
		Thread thread = new Thread(() -> stock.take("C", () -> {
		}));
		thread.start();
		thread.join();
	}

	private static ApplicationContextRunner application(TestBackend backend) {
		return backend.application()
			.withBean(LeaseCalls.class)
			.withBean(Releases.class)
			.withBean("transactionManager", CleanUps.class)
			.withBean("stock", Stock.class)
			.withPropertyValues("holdfast.wait-time=60s", "holdfast.handover.max-time=60s");
	}

	private static DefaultPointcutAdvisor afterTransactions(String expression) {
		AspectJExpressionPointcut pointcut = new AspectJExpressionPointcut();
		pointcut.setExpression(expression);
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> {
			Object result = invocation.proceed();
			if (invocation.getMethod().isAnnotationPresent(DistributedLock.class)) {
				assertThat(isHeld()).isTrue();
			}
			return result;
		});
		advisor.setOrder(200);
		return advisor;
	}

	interface Scenario {

		void run(Stock stock, CleanUps cleanUps, ApplicationContext context) throws Exception;

	}

	/**
	 * Notes whether this thread holds the lock when its connections are cleaned up.
	 */
	static class CleanUps extends JdbcTransactionManager {

		private static final long serialVersionUID = 1L;

		private static final long ROUND_TRIP_NANOS = 1_000_000;

		private final transient ThreadLocal<List<Boolean>> held = ThreadLocal.withInitial(ArrayList::new);

		private final transient ThreadLocal<Runnable> hook = ThreadLocal.withInitial(() -> () -> {
		});

		CleanUps(DataSource dataSource) {
			super(dataSource);
		}

		List<Boolean> held() {
			return this.held.get();
		}

		void hook(Runnable hook) {
			this.held.remove();
			this.hook.set(hook);
		}

		@Override
		protected void doCleanupAfterCompletion(Object transaction) {
			this.held.get().add(isHeld());
			this.hook.get().run();
			// As if the database was at the other end of a network
			long end = System.nanoTime() + ROUND_TRIP_NANOS;
			while (System.nanoTime() < end) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
			super.doCleanupAfterCompletion(transaction);
		}

	}

	/**
	 * Notes which releases each thread is told of.
	 */
	static class Releases implements LockListener {

		private final ThreadLocal<List<Outcome>> outcomes = ThreadLocal.withInitial(ArrayList::new);

		List<Outcome> ofThisThread() {
			return this.outcomes.get();
		}

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			this.outcomes.get().add(outcome);
		}

	}

	/**
	 * Takes no listener.
	 */
	static class UnguardedManager implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			return new SimpleTransactionStatus();
		}

		@Override
		public void commit(TransactionStatus status) {
		}

		@Override
		public void rollback(TransactionStatus status) {
		}

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		Stock(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE IF NOT EXISTS stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
			jdbc.update("DELETE FROM stock");
			jdbc.update("INSERT INTO stock VALUES ('A', 100), ('B', 100), ('C', 100)");
		}

		int quantity(String sku) {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = ?", Integer.class, sku);
			return (quantity != null) ? quantity : -1;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional("transactionManager")
		public void take(String sku, Runnable whileHeld) {
			takeOne(sku, whileHeld);
		}

		private void takeOne(String sku, Runnable whileHeld) {
			int quantity = quantity(sku);
			whileHeld.run();
			this.jdbc.update("UPDATE stock SET quantity = ? WHERE sku = ?", quantity - 1, sku);
		}

		@Transactional(transactionManager = "transactionManager", propagation = Propagation.REQUIRES_NEW)
		public void take(String sku) {
			this.jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = ?", sku);
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional(transactionManager = "transactionManager", propagation = Propagation.SUPPORTS)
		public void look(String sku, Runnable whileHeld) {
			whileHeld.run();
		}

		@Transactional(transactionManager = "transactionManager", propagation = Propagation.REQUIRES_NEW)
		public int look(String sku) {
			return quantity(sku);
		}

		@DistributedLock(key = "'stock:' + #sku", minHoldTime = "1s")
		@Transactional("transactionManager")
		public void takeSlowly(String sku, Runnable whileHeld) {
			takeOne(sku, whileHeld);
		}

		@DistributedLock(key = "{'stock:A', 'stock:B'}")
		@Transactional("transactionManager")
		public void takeBoth(Runnable whileHeld) {
			whileHeld.run();
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional(transactionManager = "transactionManager", propagation = Propagation.REQUIRES_NEW)
		public void takeInNewTransaction(String sku, Runnable whileHeld) {
			takeOne(sku, whileHeld);
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional("unguarded")
		public void takeUnguarded(String sku, Runnable whileHeld) {
			whileHeld.run();
		}

		@Transactional("transactionManager")
		public void takeUnguarded(String sku) {
			take(sku);
		}

	}

}
