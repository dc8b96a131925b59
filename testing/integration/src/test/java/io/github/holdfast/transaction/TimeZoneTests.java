package io.github.holdfast.transaction;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

/** The times in the lock table: numbers that no time zone and no column type changes. */
class TimeZoneTests {

	/** The sessions of the other node are in the far east, ours in the far west. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void nodesInDifferentTimeZonesAgreeOnALease(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource west = lockTable(database, access);
				HikariDataSource east = access.dataSource(2,
						(config) -> config.setConnectionInitSql(timeZone(database, "+13:00")));
				LockManager here = new LockManager(new JdbcLockBackend(() -> west));
				LockManager there = new LockManager(new JdbcLockBackend(() -> east))) {
			assertAgree(west, here, there);
			assertAgree(west, there, here);
		}
	}

	private static void assertAgree(HikariDataSource dataSource, LockManager holder, LockManager other) {
		LockTemplate others = new LockTemplate(other).withWaitTime(Duration.ZERO);
		new LockTemplate(holder).run("key", () -> {
			assertThat(Instant.EPOCH.plus(lockColumn(dataSource, "expires_at"), ChronoUnit.MICROS))
				.isCloseTo(Instant.now(), within(10, ChronoUnit.MINUTES));
			CompletableFuture
				.runAsync(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> others.acquire("key"))
					.withMessageMatching(".*for another [1-6]?\\d{4} ms.*"))
				.join();
		});
		others.acquire("key").close();
	}

	private static HikariDataSource lockTable(TestDatabase database, DatabaseAccess access) {
		HikariDataSource dataSource = access.dataSource(2,
				(config) -> config.setConnectionInitSql(timeZone(database, "-09:30")));
		database.createLockTable(dataSource);
		return dataSource;
	}

	private static String timeZone(TestDatabase database, String offset) {
		return switch (database) {
			case H2 -> "SET TIME ZONE '" + offset + "'";
			case MARIADB -> "SET time_zone = '" + offset + "'";
			case POSTGRESQL -> "SET TIME ZONE INTERVAL '" + offset + "' HOUR TO MINUTE";
		};
	}

	private static long lockColumn(HikariDataSource dataSource, String column) {
		return new JdbcTemplate(dataSource).queryForObject("SELECT " + column + " FROM holdfast_lock", Long.class);
	}

}
