package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** Databases of MariaDB with other collations or characters than the lock table. */
class CollationTests {

	@ParameterizedTest
	@CsvSource({ "utf8mb4, utf8mb4_unicode_ci, transaction", "utf8mb4, utf8mb4_unicode_ci, lease",
			"latin1, latin1_swedish_ci, transaction", "utf8mb4, utf8mb4_bin, transaction" })
	void commitsAreCheckedAndOthersWait(String characters, String collation, String mode) {
		DatabaseAccess database = TestDatabase.MARIADB.newDatabase();
		database.execute("ALTER DATABASE CHARACTER SET " + characters + " COLLATE " + collation);
		LockedApplication.jdbc(database)
			.withBean(LockedShop.class)
			.withPropertyValues("holdfast.jdbc.mode=" + mode, "holdfast.wait-time=30s")
			.run((context) -> {
				LockedShop.createTables(context.getBean(JdbcTemplate.class));
				LockedShop shop = context.getBean(LockedShop.class);
				shop.take(() -> {
				});
				shop.take(() -> {
				});
				LockTemplate locks = context.getBean(LockTemplate.class);
				CompletableFuture<CompletableFuture<Void>> waits = new CompletableFuture<>();
				shop.take(() -> {
					CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> locks.run("stock", () -> {
					}), (task) -> new Thread(task).start());
					waits.complete(waiter);
					Awaitility.await()
						.during(Duration.ofMillis(500))
						.atMost(1, TimeUnit.MINUTES)
						.until(() -> !waiter.isDone());
				});
				waits.join().join();
				assertThat(shop.quantity()).isEqualTo(97);
			});
	}

}
