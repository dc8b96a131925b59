package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/** Sells for each line on its standard input, and pauses at the point that it names. */
final class TransactionLockWorker {

	private TransactionLockWorker() {
	}

	public static void main(String[] args) {
		application(new DatabaseAccess(args[0], args[1], args[2]), Duration.parse(args[3])).run((context) -> {
			assertThat(context).hasNotFailed();
			BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
			for (String pause = input.readLine(); pause != null; pause = input.readLine()) {
				String at = pause;
				System.out.println(sell(context, (point) -> {
					if (point.equals(at)) {
						System.out.println(point);
						read(input);
					}
				}));
			}
		});
	}

	private static @Nullable String read(BufferedReader input) {
		try {
			return input.readLine();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static ApplicationContextRunner application(DatabaseAccess database, Duration leaseTime) {
		return LockedApplication.jdbc(database)
			.withUserConfiguration(RecordingDataSource.Beans.class)
			.withPropertyValues(RecordingDataSource.GUARDED)
			.withBean(Shop.class)
			.withPropertyValues("holdfast.jdbc.initialize-schema=never", "holdfast.wait-time=60s",
					"holdfast.lease-time=" + leaseTime.toMillis() + "ms", "spring.main.banner-mode=off",
					"spring.lifecycle.timeout-per-shutdown-phase=60s");
	}

	static String sell(ApplicationContext context, Consumer<String> pause) {
		RecordingDataSource dataSource = (RecordingDataSource) context.getBean(DataSource.class);
		Shop shop = context.getBean(Shop.class);
		try {
			dataSource.beforeCommit(() -> pause.accept("CHECKED"));
			shop.sellAt(pause);
			return "COMMITTED";
		}
		catch (RuntimeException ex) {
			return "REJECTED " + ex.getClass().getSimpleName() + ": " + ex.getMessage();
		}
	}

	static class Shop extends LockedShop {

		Shop(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void sellAt(Consumer<String> pause) {
			sell(() -> pause.accept("READ"));
			pause.accept("WRITTEN");
		}

		@DistributedLock(key = "'stock'", waitTime = "2s")
		@Transactional
		public void sellSoon() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "{'stock', 'other stock'}", waitTime = "2s")
		@Transactional
		public void sellSoonUnderTwoLocks() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'")
		@Transactional(timeout = 3)
		public void sellQuickly() {
			sell(() -> {
			});
		}

	}

}
