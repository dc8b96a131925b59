package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node that sells one piece after the other by an annotated method, with its locks in
 * Redis, until its standard input says that it is enough. Takes its time, and tells so,
 * before its transaction begins, when it has read, and just before COMMIT.
 */
final class ClaimingSalesWorker {

	private ClaimingSalesWorker() {
	}

	/**
	 * Sell.
	 * @param args the level, the database with the stock, the port of Redis, and the
	 * number of threads
	 */
	public static void main(String[] args) {
		LockedApplication.jdbc(new DatabaseAccess(args[1], args[2], args[3]))
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withBean(Sales.class)
			.withUserConfiguration(RecordingDataSource.Beans.class)
			.withPropertyValues(RecordingDataSource.GUARDED)
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + args[4],
					"holdfast.backend=redis", "holdfast.commit-guard=" + args[0],
					"holdfast.jdbc.initialize-schema=never",
					"holdfast.lease-time=" + SalesWorker.LEASE_TIME.toMillis() + "ms", "holdfast.wait-time=60s",
					"spring.main.banner-mode=off")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				sellUntilEnough(context, Integer.parseInt(args[5]));
			});
		System.out.println("ENDED");
	}

	private static void sellUntilEnough(ApplicationContext context, int threads) throws IOException {
		context.getBean(ConfigurableTransactionManager.class).addListener(new TransactionExecutionListener() {

			@Override
			public void beforeBegin(TransactionExecution transaction) {
				takeTime("BEGINS");
			}

		});
		((RecordingDataSource) context.getBean(DataSource.class)).beforeCommit(() -> takeTime("CHECKED"));
		Sales sales = context.getBean(Sales.class);
		List<Thread> sellers = Stream.generate(() -> new Thread(() -> sell(sales))).limit(threads).toList();
		sellers.forEach((seller) -> seller.setDaemon(true));
		sellers.forEach(Thread::start);
		new BufferedReader(new InputStreamReader(System.in)).readLine();
		sellers.forEach(Thread::interrupt);
		for (Thread seller : sellers) {
			try {
				seller.join();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

	private static void sell(Sales sales) {
		while (!Thread.currentThread().isInterrupted()) {
			try {
				sales.sell();
			}
			catch (RuntimeException ex) {
				boolean expected = ex instanceof LockException || Thread.currentThread().isInterrupted();
				System.out.println((expected ? "REJECTED " : "FAILED ") + ex);
			}
		}
	}

	private static void takeTime(String point) {
		System.out.println(point);
		try {
			TimeUnit.MILLISECONDS.sleep(40);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * The business method.
	 */
	static class Sales {

		private final JdbcTemplate jdbc;

		Sales(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void sell() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			takeTime("READ");
			this.jdbc.update("UPDATE stock SET quantity = ?", (quantity != null) ? quantity - 1 : -1);
			this.jdbc.update("INSERT INTO sale VALUES (1)");
		}

	}

}
