package io.github.holdfast.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that stands still before a COMMIT: while it waits for a lease in the database
 * it is given the row, or it was to leave a lease to callbacks.
 */
@Tag("F97")
@Tag("long")
@Timeout(180)
class FrozenWaiterTests {

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockIsFreeAfterTheLeaseTime(TestDatabase database) {
		run(database, (freezer, first, second) -> {
			LockedShop shop = first.getBean(LockedShop.class);
			shop.take(() -> {
			});
			LockTemplate waiting = second.getBean(LockTemplate.class);
			AtomicReference<CompletableFuture<Void>> frozen = new AtomicReference<>();
			shop.take(() -> {
				freezer.armed.set(true);
				frozen.set(start(() -> waiting.run("stock", () -> {
				})));
				await(freezer.waits);
			});
			assertOthersGetTheLock(freezer, shop);
			frozen.get().handle((done, failure) -> done).join();
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockThatWasToBeLeftToCallbacksIsFreeAfterTheLeaseTime(TestDatabase database) {
		run(database, (freezer, first, second) -> {
			LockedShop frozen = second.getBean(LockedShop.class);
			for (int i = 0; i < 2; i++) {
				frozen.take(() -> {
				});
			}
			CompletableFuture<Void> failed = start(() -> frozen.take(() -> {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				});
				freezer.armed.set(true);
			}));
			assertOthersGetTheLock(freezer, first.getBean(LockedShop.class));
			assertThat(failed.handle((done, failure) -> failure != null).join()).isTrue();
		});
	}

	/**
	 * It is the third sale.
	 */
	private static void assertOthersGetTheLock(Freezer freezer, LockedShop shop) {
		await(freezer.stands);
		try {
			shop.take(() -> {
			});
			assertThat(shop.quantity()).isEqualTo(97);
		}
		finally {
			freezer.goesOn.countDown();
		}
	}

	private static CompletableFuture<Void> start(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> new Thread(task).start());
	}

	private static void run(TestDatabase database, Scenario scenario) {
		Freezer freezer = new Freezer();
		ApplicationContextRunner application = LockedApplication.jdbc(database.newDatabase())
			.withUserConfiguration(Transactions.class)
			.withBean(LockedShop.class)
			.withPropertyValues("holdfast.lease-time=3s", "holdfast.wait-time=30s");
		application.run((first) -> {
			LockedShop.createTables(first.getBean(JdbcTemplate.class));
			application.withBean(Freezer.class, () -> freezer).run((second) -> scenario.run(freezer, first, second));
		});
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Lets a thread stand still before the first COMMIT of a transaction, when a
	 * statement that waits has been sent.
	 */
	private static final class Freezer implements BeanPostProcessor {

		private final AtomicBoolean armed = new AtomicBoolean();

		private final CountDownLatch waits = new CountDownLatch(1);

		private final CountDownLatch stands = new CountDownLatch(1);

		private final CountDownLatch goesOn = new CountDownLatch(1);

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource dataSource) ? new DelegatingDataSource(dataSource) {

				@Override
				public Connection getConnection() throws SQLException {
					return freezing(super.getConnection());
				}

			} : bean;
		}

		private Connection freezing(Connection connection) {
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, args) -> {
						if (method.getName().equals("setAutoCommit") && this.armed.get()) {
							this.waits.countDown();
						}
						if (method.getName().equals("commit") && this.armed.get()) {
							this.stands.countDown();
							await(this.goesOn);
						}
						try {
							return method.invoke(connection, args);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

	}

	private interface Scenario {

		void run(Freezer freezer, ApplicationContext first, ApplicationContext second);

	}

	@EnableTransactionManagement
	static class Transactions {

	}

}
