package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The way to the store gets slow while a lock is held.
 */
class SlowStoreTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void leaseIsKeptWhenRenewalsTakeLong(TestDatabase database) throws Exception {
		run(database, Duration.ofSeconds(9), (stock, proxy, direct) -> {
			JdbcTemplate observer = new JdbcTemplate(direct);
			stock.withoutTransaction("A", () -> {
				LockContext lock = LockContext.current().orElseThrow();
				long firstEnd = end(lock);
				long firstExpiry = expiresAt(observer);
				proxy.delay(Duration.ofMillis(100));
				Awaitility.await().atMost(PATIENCE).until(() -> expiresAt(observer) > firstExpiry);
				Awaitility.await().atMost(PATIENCE).until(() -> end(lock) - firstEnd > Duration.ofSeconds(1).toNanos());
				assertThat(lock.isValid()).isTrue();
				assertThat(acquire(direct, Duration.ZERO)).as("a lease of another node").isNull();
				proxy.delay(Duration.ZERO);
				stock.take("A", () -> {
				});
			});
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	/**
	 * No renewal gets through in time. Whoever gets the lock next must find that its last
	 * holder knows already.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderKnowsOfItsLossBeforeTheStoreGivesTheLockToAnother(TestDatabase database) throws Exception {
		run(database, Duration.ofSeconds(3), (stock, proxy, direct) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.withoutTransaction("A", () -> {
				LockContext lock = LockContext.current().orElseThrow();
				proxy.delay(Duration.ofSeconds(4));
				LockBackend.Lease successor = acquire(direct, PATIENCE);
				boolean overlap = lock.isValid();
				assertThat(successor).isNotNull();
				assertThat(overlap).isFalse();
				proxy.delay(Duration.ZERO);
				stock.take("A", () -> {
				});
			}));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	private static void run(TestDatabase database, Duration leaseTime, Scenario scenario) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port()); HikariDataSource direct = access.dataSource(2)) {
			LockedApplication.jdbc(access.onPort(proxy.port()))
				.withBean(StockService.class)
				.withPropertyValues("holdfast.lease-time=" + leaseTime)
				.run((context) -> scenario.run(context.getBean(StockService.class), proxy, direct));
		}
	}

	private static long end(LockContext lock) {
		return System.nanoTime() + lock.remaining().toNanos();
	}

	private static long expiresAt(JdbcTemplate jdbc) {
		Long expiresAt = jdbc.queryForObject("SELECT max(expires_at) FROM holdfast_lock", Long.class);
		return (expiresAt != null) ? expiresAt : -1;
	}

	private static LockBackend.@Nullable Lease acquire(HikariDataSource dataSource, Duration waitTime) {
		try {
			return new JdbcLockBackend(() -> dataSource)
				.acquire(new LockRequest("holdfast:stock:A", "other", LockMode.EXCLUSIVE, false, waitTime,
						Duration.ofSeconds(60), UUID.randomUUID().toString(), "other node"));
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@FunctionalInterface
	private interface Scenario {

		void run(StockService stock, FaultProxy proxy, HikariDataSource direct);

	}

}
