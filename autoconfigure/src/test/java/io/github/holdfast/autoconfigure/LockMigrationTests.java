package io.github.holdfast.autoconfigure;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.local.LocalLockBackend;
import io.github.holdfast.support.QueueLimits;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WaitingCall;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

/**
 * A node during a change of its backend, or of the prefix of its keys.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class LockMigrationTests {

	private final RedisServer redis = RedisServer.start();

	private final DatabaseAccess database = TestDatabase.MARIADB.newDatabase();

	private final HikariDataSource operator = this.database.dataSource(2);

	private final JdbcTemplate sql = new JdbcTemplate(this.operator);

	private final ApplicationContextRunner application = LockedApplication.jdbc(this.database)
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.redis.port(),
				"spring.datasource.hikari.maximum-pool-size=6", "spring.datasource.hikari.minimum-idle=0",
				"holdfast.fence.initialize-schema=always");

	private final ApplicationContextRunner changing = this.application.withPropertyValues("holdfast.backend=jdbc",
			"holdfast.migration.also-lock=redis");

	@AfterAll
	void stop() {
		this.operator.close();
		this.redis.close();
	}

	@BeforeEach
	void stock() {
		this.redis.command("FLUSHALL");
		this.sql.execute("DROP TABLE IF EXISTS holdfast_lock");
		this.sql.execute("DROP TABLE IF EXISTS holdfast_fence");
		this.sql.execute("DROP TABLE IF EXISTS stock");
		this.sql.execute("CREATE TABLE stock (available integer)");
		this.sql.update("INSERT INTO stock VALUES (100)");
	}

	@ParameterizedTest
	@CsvSource({ "jdbc, redis", "redis, jdbc" })
	void locksAreTakenInBothPlacesAndGivenBack(String backend, String also, CapturedOutput output) {
		this.application.withPropertyValues("holdfast.backend=" + backend, "holdfast.migration.also-lock=" + also)
			.run((context) -> {
				context.getBean(LockTemplate.class).run("A", () -> assertThat(holders()).containsExactly(1L, 1L));
				assertThat(holders()).containsExactly(0L, 0L);
				assertThat(context.getBean(LockBackend.class).name()).isEqualTo(backend);
			});
		assertThat(output).contains("The locks of the default backend are taken in the backend '" + also + "'");
	}

	/**
	 * How many holders the key has in the lock table and in Redis.
	 */
	private List<Long> holders() {
		return List.of(
				this.sql.queryForObject("SELECT count(*) FROM holdfast_lock WHERE owner IS NOT NULL", Long.class),
				(Long) this.redis.command("EXISTS", "{lock:A}"));
	}

	/**
	 * The other node is one step behind or ahead, and takes the lock in that place only.
	 */
	@ParameterizedTest
	@CsvSource({ "jdbc, jdbc", "jdbc, redis", "redis, jdbc", "redis, redis" })
	void lossInEitherPlaceRefusesTheCommit(String backend, String lost) {
		String also = backend.equals("jdbc") ? "redis" : "jdbc";
		ApplicationContextRunner both = this.application.withPropertyValues("holdfast.backend=" + backend,
				"holdfast.migration.also-lock=" + also);
		ApplicationContextRunner single = this.application.withPropertyValues("holdfast.backend=" + lost);
		both.run((node) -> single.run((other) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> sell(node, () -> {
				takeAway(lost);
				assertThat(elsewhere(() -> sell(other, () -> {
				}))).isNull();
			}));
			assertThat(available()).isEqualTo(99);
			sell(node, () -> {
			});
			assertThat(available()).isEqualTo(98);
		}));
	}

	private static void sell(ApplicationContext node, Runnable meanwhile) {
		node.getBean(LockTemplate.class)
			.run("A", () -> new TransactionTemplate(node.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					JdbcTemplate sql = node.getBean(JdbcTemplate.class);
					int available = sql.queryForObject("SELECT available FROM stock", Integer.class);
					meanwhile.run();
					sql.update("UPDATE stock SET available = ?", available - 1);
				}));
	}

	private void takeAway(String place) {
		if (place.equals("redis")) {
			this.redis.command("DEL", "{lock:A}");
		}
		else {
			this.sql.update("DELETE FROM holdfast_lock");
		}
	}

	private int available() {
		return this.sql.queryForObject("SELECT available FROM stock", Integer.class);
	}

	private static @Nullable Throwable elsewhere(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> new Thread(task).start())
			.handle((result, ex) -> (ex != null) ? ex.getCause() : null)
			.orTimeout(30, TimeUnit.SECONDS)
			.join();
	}

	@Test
	void bothAreHandedOverTogether() {
		this.changing.withPropertyValues("holdfast.wait-time=30s", "holdfast.handover.max-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			AtomicReference<CompletableFuture<Long>> next = new AtomicReference<>();
			long first = locks.execute("A", () -> {
				next.set(WaitingCall.start(() -> locks.execute("A", () -> {
					assertThat(holders()).containsExactly(1L, 1L);
					return LockContext.current().orElseThrow().token();
				})));
				return LockContext.current().orElseThrow().token();
			});
			assertThat(next.get().get(30, TimeUnit.SECONDS)).as("the next turn of one lease").isEqualTo(first + 1);
		});
	}

	@Test
	void holderIsEvictedInBothPlaces() {
		this.changing.run((node) -> {
			LockBackend backend = node.getBean(LockBackend.class);
			assertThat(backend.probe("lock:A")).isNotNull();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> sell(node, () -> {
				LockHolder holder = Objects.requireNonNull(backend.holder("lock:A"));
				assertThat(assertDoesNotThrow(() -> backend.evict("lock:A", holder.owner(), holder.epoch())))
					.isEqualTo(LockBackend.Eviction.EVICTED);
				assertThat(holders()).containsExactly(0L, 0L);
			}));
			assertThat(available()).isEqualTo(100);
		});
	}

	@Test
	void keysOfBothPrefixesAreTaken() {
		this.application.withPropertyValues("holdfast.backend=redis", "holdfast.migration.also-key-prefix=app:")
			.run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
				assertThat(this.redis.command("EXISTS", "{lock:A}")).isEqualTo(1L);
				assertThat(this.redis.command("EXISTS", "{app:A}")).isEqualTo(1L);
				context.getBean(LockTemplate.class)
					.withKeyPrefix("other:")
					.run("A", () -> assertThat(this.redis.command("EXISTS", "{other:A}")).isEqualTo(1L));
			}));
	}

	@Test
	void optimisticLocksFailTheStart() {
		assertFailure(this.changing.withBean(Optimistic.class), "asks for [OPTIMISTIC]", "during 'holdfast.migration'");
	}

	@Test
	void samePlaceFailsTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backend=redis", "holdfast.migration.also-lock=redis"),
				"'holdfast.migration' names the place in which all locks are anyway.",
				"'holdfast.migration.also-key-prefix'");
	}

	@ParameterizedTest
	@CsvSource({ "local, jdbc", "jdbc, local" })
	void locksOfThisJvmFailTheStart(String backend, String also) {
		assertFailure(
				this.application.withPropertyValues("holdfast.backend=" + backend,
						"holdfast.migration.also-lock=" + also),
				"cannot keep locks of this JVM together with others", "Stop all nodes");
	}

	@Test
	void ownBackendFailsTheStart() {
		assertFailure(this.changing.withBean(LockBackend.class, () -> new LocalLockBackend(QueueLimits.DEFAULT)),
				"'holdfast.migration' has no effect", "LockBackend bean");
	}

	@Test
	void unknownBackendFailsTheStart() {
		assertFailure(this.changing.withPropertyValues("holdfast.migration.also-lock=rediss"),
				"'holdfast.migration.also-lock' is 'rediss', but there is no such backend.");
	}

	static class Optimistic {

		@DistributedLock(key = "'A'", mode = LockRequest.Mode.OPTIMISTIC)
		public void count() {
		}

	}

}
