package io.github.holdfast.cost;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.awaitility.Awaitility.await;

/** An application of which {@link CallWalk} follows one call on {@code redis}. */
public final class WalkedApplication {

	private static final int CALLS_BEFORE = 20;

	private WalkedApplication() {
	}

	public static void main(String[] args) {
		ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("holdfast.backend=redis", "holdfast.jdbc.initialize-schema=always",
					"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + args[0])
			.withClassLoader(new FilteredClassLoader("jakarta.persistence"))
			.withBean(Stock.class);
		application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			Runnable call = args[1].equals("claimed") ? stock::takeInOneTransaction : stock::takeInTransactionInside;
			for (int i = 0; i < CALLS_BEFORE; i++) {
				call.run();
			}
			// Otherwise the call waits for the release of the one before
			await().until(() -> context.getBean(LockManager.class).isIdle());
			begin();
			call.run();
			end();
		});
		System.exit(0);
	}

	static void begin() {
		System.out.println("begin");
	}

	static void end() {
		System.out.println("end");
	}

	public static class Stock {

		private final JdbcTemplate jdbc;

		private final TransactionTemplate transaction;

		public Stock(JdbcTemplate jdbc, PlatformTransactionManager manager) {
			this.jdbc = jdbc;
			this.transaction = new TransactionTemplate(manager);
			jdbc.execute("CREATE TABLE stock (sku integer PRIMARY KEY, quantity integer NOT NULL)");
			jdbc.update("INSERT INTO stock VALUES (1, 1000)");
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void takeInOneTransaction() {
			take();
		}

		@DistributedLock(key = "'stock'")
		public void takeInTransactionInside() {
			this.transaction.executeWithoutResult((status) -> take());
		}

		private void take() {
			this.jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 1", Integer.class);
			this.jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = 1");
		}

	}

}
